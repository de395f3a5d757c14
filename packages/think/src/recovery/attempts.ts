/**
 * The scheduled attempts: what `_chatRecoveryContinue` and `_chatRecoveryRetry` do when their time has come. Called by the agent's schedules.
 *
 * I1. The call returns when the attempt's own stream exists: from then on its row and heartbeat protect it, and the object's alarm is free for
 *     everything else, however long the turn takes.
 * I2. A schedule that its incident does not name any more does nothing.
 * I3. Whatever happens, the turn ends visibly, is carried on, or waits for a person.
 */
import type { UIMessage } from "ai";
import { z } from "zod";
import { errorText } from "../shared/errors/error-text";
import { RECOVERY_LIMITS } from "../shared/limits";
import type { ClientToolSchema } from "../protocol/frames";
import { clientToolsSchema } from "../protocol/schema";
import type { TurnResult } from "../turn/turn";
import { resolveRecovery, type ResolvedChatRecoveryConfig } from "./config";
import { incidentIdOf, type Incident, type RecoveryKind } from "./incident";
import { NO_LEFTOVER, type AttemptPayload, type Incidents } from "./incidents";
import type { RecoveryParts } from "./recovery-types";

const payloadSchema = z.object({
  incidentId: z.string().default(""),
  originalRequestId: z.string().default(""),
  targetUserId: z.string().optional(),
  targetAssistantId: z.string().optional(),
  parentId: z.string().optional(),
  ownerId: z.string().optional(),
  messageIds: z.array(z.string()).optional(),
  plan: z.number().optional(),
  lastBody: z.record(z.string(), z.unknown()).nullish(),
  lastClientTools: z.unknown().optional()
});

interface Attempt {
  readonly kind: RecoveryKind;
  readonly payload: AttemptPayload;
  readonly incident: Incident;
  /** The schedule that is executing. */
  readonly scheduleId: string | undefined;
  readonly config: ResolvedChatRecoveryConfig;
}

export class Attempts {
  readonly #parts: RecoveryParts;
  readonly #incidents: Incidents;

  constructor(parts: RecoveryParts, incidents: Incidents) {
    this.#parts = parts;
    this.#incidents = incidents;
  }

  async run(kind: RecoveryKind, input: unknown, scheduleId: string | undefined): Promise<void> {
    const payload: AttemptPayload = payloadSchema.parse(input ?? {});
    const stored = this.#incidents.get(payload.incidentId);
    if (stored && isSuperseded(stored, payload, scheduleId)) return;
    const config = this.#incidents.config ?? defaults();
    const incident = stored ?? this.#synthesise(kind, payload, config);
    const attempt = { kind, payload, incident, scheduleId, config };
    try {
      await this.#attempt(attempt);
    } catch (error) {
      await this.#failed(attempt, error);
    }
  }

  async #attempt(attempt: Attempt): Promise<void> {
    const { kind, payload, incident, config } = attempt;
    const { context, waitUntilStable } = this.#parts;
    const isKnown = this.#incidents.get(incident.incidentId) !== null;
    const isStable = await waitUntilStable(config.stableTimeoutMs);
    // Cleared meanwhile: there is nothing to carry on, and nobody to tell.
    if (isKnown && !this.#incidents.get(incident.incidentId)) return;
    if (!isStable) return this.#notStable(attempt);
    if (!(await this.#isAtHome(incident)))
      return this.#incidents.close(incident, "skipped", "session_deleted");
    const obstacle = this.#obstacle(kind, payload);
    if (obstacle) return this.#incidents.close(incident, "skipped", obstacle);
    // A turn that brought nothing along, such as one of `chat()`, must not take from the clients what they said.
    context.restore({ body: payload.lastBody ?? undefined, clientTools: toolsOf(payload) ?? undefined });
    await this.#start(attempt);
  }

  /** Runs the turn; returns when it cannot be lost any more (I1). */
  async #start(attempt: Attempt): Promise<void> {
    const { kind, payload } = attempt;
    const { ids, context, run } = this.#parts;
    const started = Promise.withResolvers<void>();
    const finished = run({
      requestId: ids.next(),
      rootRequestId: payload.originalRequestId || undefined,
      ownerId: payload.ownerId,
      messageIds: payload.messageIds,
      parentId: kind === "retry" ? payload.parentId : undefined,
      continuation: kind === "continue",
      body: payload.lastBody === null ? undefined : context.body,
      clientTools: toolsOf(payload) === null ? undefined : context.clientTools,
      prepare: () => this.#obstacle(kind, payload) === undefined,
      started: () => started.resolve()
    }).then((result) => this.#ended(attempt, result));
    const isStarted = await Promise.race([started.promise.then(() => true), finished.then(() => false)]);
    if (isStarted) void finished.catch((error: unknown) => this.#failedLater(attempt, error));
  }

  #ended({ payload, incident }: Attempt, result: TurnResult): void {
    // A later interruption of the same turn has changed the record.
    const current = this.#incidents.get(payload.incidentId) ?? incident;
    switch (result.status) {
      case "completed":
        return this.#incidents.close(current, "completed");
      case "skipped":
        return this.#incidents.close(current, "skipped", "conversation_changed");
      case "aborted":
        return this.#incidents.close(current, "failed", "aborted");
      case "error":
        return this.#incidents.close(current, "failed", result.error);
      case "interrupted":
        return;
    }
  }

  /** A turn goes on in the session it began in, whichever is active by now. */
  async #isAtHome({ sessionId }: Incident): Promise<boolean> {
    const { sessionId: active, enterSession } = this.#parts;
    return sessionId === undefined || sessionId === active() || enterSession(sessionId);
  }

  /** Why the attempt has lost its object, if it has. */
  #obstacle(kind: RecoveryKind, payload: AttemptPayload): string | undefined {
    if (this.#parts.isWanted?.(payload.ownerId) === false) return "not_wanted";
    const leaf: UIMessage | undefined = this.#parts.conversation.messages.at(-1);
    if (kind === "continue") {
      const target = payload.targetAssistantId;
      return leaf?.role !== "assistant" || (target !== undefined && target !== leaf.id)
        ? "conversation_changed"
        : undefined;
    }
    // A regeneration answers an earlier message; the leaf is the answer it is to stand beside.
    if (payload.parentId === undefined && leaf?.role !== "user") return "no_unanswered_user_message";
    const target = payload.targetUserId;
    return target !== undefined && target !== leaf?.id ? "conversation_changed" : undefined;
  }

  async #notStable(attempt: Attempt): Promise<void> {
    const { conversation, hasOpenQuestion } = this.#parts;
    const { incident, payload, kind, scheduleId } = attempt;
    if (hasOpenQuestion(conversation.messages))
      return this.#incidents.close(incident, "skipped", "awaiting_client_interaction");
    const isStored = this.#incidents.get(payload.incidentId) !== null;
    if (!isStored || incident.attempt >= incident.maxAttempts) return this.#giveUp(attempt, "stable_timeout");
    const later = { ...incident, attempt: incident.attempt + 1, lastAttemptAt: this.#parts.clock.now() };
    await this.#incidents.plan(later, kind, payload, {
      seconds: RECOVERY_LIMITS.rescheduleSeconds,
      reason: "stable_timeout_retry",
      executing: scheduleId
    });
  }

  async #giveUp({ incident, config }: Attempt, reason: string): Promise<void> {
    if (this.#incidents.get(incident.incidentId)?.status === "exhausted") return;
    const leftover = { ...NO_LEFTOVER, createdAt: incident.firstSeenAt };
    await this.#incidents.exhaust(incident, { reason, leftover, config }, (message) =>
      this.#incidents.tellFailure(incident.requestId, message, leftover)
    );
  }

  /** The platform's own failures are repeated by the schedule, which stays when this throws. */
  async #failed(attempt: Attempt, error: unknown): Promise<void> {
    const { incident } = attempt;
    if (this.#parts.isTransient(error)) {
      const current = this.#incidents.get(incident.incidentId) ?? incident;
      if (current.status !== "exhausted") this.#incidents.fail(current, errorText(error));
      throw error;
    }
    console.error(`[Think] An attempt to recover a turn failed: ${errorText(error)}`, error);
    await this.#giveUp(attempt, "recovery_error");
  }

  async #failedLater(attempt: Attempt, error: unknown): Promise<void> {
    try {
      await this.#failed(attempt, error);
    } catch {
      // The platform took the object; the turn's row tells the next isolate.
    }
  }

  /** The record is gone; the turn must still end visibly. */
  #synthesise(kind: RecoveryKind, payload: AttemptPayload, config: ResolvedChatRecoveryConfig): Incident {
    const now = this.#parts.clock.now();
    const root = payload.originalRequestId;
    return {
      incidentId: payload.incidentId || incidentIdOf(root, payload.targetUserId),
      ...{ requestId: root, recoveryRootRequestId: root, recoveryKind: kind, attempt: 1 },
      ...{ maxAttempts: config.maxAttempts, status: "attempting", firstSeenAt: now, lastAttemptAt: now }
    };
  }
}

/** Null: the turn had none. Undefined: nothing is known. */
function toolsOf({ lastClientTools }: AttemptPayload): ClientToolSchema[] | null | undefined {
  const tools = clientToolsSchema.nullish().safeParse(lastClientTools);
  return tools.success ? tools.data : undefined;
}

function isSuperseded(
  { status, scheduleId, plans = 0 }: Incident,
  { plan = 0 }: AttemptPayload,
  executing: string | undefined
): boolean {
  if (status === "exhausted") return true;
  const isAnother = executing !== undefined && scheduleId !== undefined && scheduleId !== executing;
  // Where the schedule lives in another object, it can fire before its own plan is on record.
  return isAnother && plan <= plans;
}

function defaults(): ResolvedChatRecoveryConfig {
  const config = resolveRecovery(true);
  if (!config) throw new Error("unreachable: recovery that is on has settings");
  return config;
}
