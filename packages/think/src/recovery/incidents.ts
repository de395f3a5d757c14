/**
 * The life of incidents: opening, scheduling, ending, giving up; the flag that clients see. Does what the engine decides. Called by the
 * detection, the stall watchdog and the scheduled attempts.
 *
 * I1. The schedule of an attempt is stored before the interrupted turn is closed: a crash in between repeats the detection and loses nothing.
 * I2. At most one schedule per incident counts: the one the record names, or a newer one that has not been recorded yet.
 * I3. A turn that is given up is told to clients before its record is sealed: a banner may come twice, never not at all.
 * I4. A clear takes the records along; work that it finds waiting for the author or the platform brings none of them back.
 */
import { createResponseEncoder, encodeFrame } from "../protocol/encode";
import { FRAME } from "../protocol/frames";
import { errorText } from "../shared/errors/error-text";
import {
  resolveRecovery,
  type ChatRecoveryExhaustedContext,
  type ResolvedChatRecoveryConfig
} from "./config";
import { abandon, advanceIncident, type Advance, type Evidence } from "./engine";
import {
  incidentEvent,
  incidentIdOf,
  type Incident,
  type IncidentStatus,
  type RecoveryKind
} from "./incident";
import type { RecoveryParts } from "./recovery-types";

/** What was left of the turn, for those who are told that it was given up. */
export interface Leftover {
  readonly streamId: string;
  readonly messageId: string;
  readonly createdAt: number;
  readonly partialText: string;
  readonly partialParts: readonly unknown[];
}

export const NO_LEFTOVER: Leftover = {
  streamId: "",
  messageId: "",
  createdAt: 0,
  partialText: "",
  partialParts: []
};

/** What a scheduled attempt is told. */
export interface AttemptPayload {
  readonly incidentId: string;
  /** The root request id. */
  readonly originalRequestId: string;
  readonly targetUserId?: string | undefined;
  readonly targetAssistantId?: string | undefined;
  /** A regeneration: the message to answer, which is not the leaf. */
  readonly parentId?: string | undefined;
  readonly ownerId?: string | undefined;
  readonly messageIds?: readonly string[] | undefined;
  /** Counts the plans of an incident: a schedule may fire before its own plan is on record. */
  readonly plan?: number | undefined;
  /** Absent: what is current stays. */
  readonly lastBody?: Readonly<Record<string, unknown>> | null | undefined;
  readonly lastClientTools?: unknown;
}

export class Incidents {
  readonly #parts: RecoveryParts;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** The settings in force, or null when recovery is off. */
  get config(): ResolvedChatRecoveryConfig | null {
    return resolveRecovery(this.#parts.setting());
  }

  get(incidentId: string): Incident | null {
    return this.#parts.store.get(incidentId);
  }

  /** An interruption was seen. The record is stored, except when the turn is to be given up: then `exhaust` comes first. */
  async advance(evidence: Evidence, config: ResolvedChatRecoveryConfig): Promise<Advance> {
    const { store, emit } = this.#parts;
    store.sweep(evidence.now);
    const id = incidentIdOf(evidence.rootRequestId, evidence.latestUserMessageId);
    let advance = advanceIncident(store.get(id), evidence, config);
    if (advance.ask) {
      if (!(await this.#mayGoOn(advance.ask, config))) advance = abandon(advance);
      if (!store.get(id)) return advance;
    }
    if (!advance.exhausted) store.put(advance.incident);
    if (advance.isNew) emit("chat:recovery:detected", incidentEvent(advance.incident));
    emit("chat:recovery:attempt", incidentEvent(advance.incident));
    return advance;
  }

  /** Plans the next attempt. `executing`: the caller is itself a scheduled attempt, whose row goes by itself. */
  async plan(
    incident: Incident,
    kind: RecoveryKind,
    payload: AttemptPayload,
    {
      seconds = 0,
      reason,
      executing
    }: { seconds?: number; reason?: string; executing?: string | undefined } = {}
  ): Promise<void> {
    const { schedules, store, emit } = this.#parts;
    const callback = kind === "retry" ? "_chatRecoveryRetry" : "_chatRecoveryContinue";
    const plans = (incident.plans ?? 0) + 1;
    const scheduleId = await schedules.schedule(seconds, callback, { ...payload, plan: plans });
    if (!store.get(incident.incidentId)) return this.#cancel(scheduleId);
    const earlier = incident.scheduleId;
    const planned: Incident = {
      ...incident,
      recoveryKind: kind,
      status: "scheduled",
      scheduleId,
      plans,
      reason
    };
    store.put(planned);
    emit("chat:recovery:scheduled", incidentEvent(planned));
    this.#setRecovering(payload.originalRequestId);
    if (earlier !== undefined && earlier !== executing) await this.#cancel(earlier);
  }

  /** The incident is over, or waits for something that is not recovery's. */
  close(
    incident: Incident,
    status: IncidentStatus & ("completed" | "skipped" | "failed"),
    reason?: string
  ): void {
    const { store, emit } = this.#parts;
    if (store.get(incident.incidentId)) store.put({ ...incident, status, reason, scheduleId: undefined });
    const event = incidentEvent(incident);
    if (status === "completed") emit("chat:recovery:completed", event);
    else emit(`chat:recovery:${status}`, { ...event, reason });
    this.clearRecovering();
    this.#parts.closed?.();
  }

  /** The turn was overtaken by a clear, which takes its record along (I4), or by another turn. */
  drop(incident: Incident): void {
    if (this.get(incident.incidentId)) this.close(incident, "skipped", "conversation_changed");
  }

  /** An attempt failed, but its schedule repeats it. */
  fail(incident: Incident, reason: string): void {
    this.#parts.store.put({ ...incident, status: "failed", reason });
    this.#parts.emit("chat:recovery:failed", { ...incidentEvent(incident), reason });
    this.clearRecovering();
  }

  /** Gives the turn up: the author and observers are told. `tell` makes it known to clients, durably. Sealed last (I3). */
  async exhaust(
    incident: Incident,
    { reason, leftover, config }: { reason: string; leftover: Leftover; config: ResolvedChatRecoveryConfig },
    tell: ((message: string) => void) | undefined
  ): Promise<void> {
    const { emit, store } = this.#parts;
    const { terminalMessage } = config;
    const { messageId: _messageId, ...left } = leftover;
    const context: ChatRecoveryExhaustedContext = {
      ...incidentEvent(incident),
      recoveryRootRequestId: incident.recoveryRootRequestId ?? incident.requestId,
      ...left,
      reason,
      terminalMessage
    };
    emit("chat:recovery:exhausted", context);
    try {
      await config.onExhausted?.(context);
    } catch (error) {
      console.error(`[Think] onExhausted failed: ${errorText(error)}`, error);
    }
    tell?.(terminalMessage);
    store.put({ ...incident, status: "exhausted", reason, scheduleId: undefined });
    this.clearRecovering();
    this.#parts.closed?.();
  }

  /** Records the failure for those who come back, and tells those who are here. */
  tellFailure(requestId: string, message: string, leftover: Leftover): void {
    const { stream, broadcast, ids } = this.#parts;
    // A running turn owns the stream's record; its own outcome matters more to those who reconnect.
    if (!stream.isLive) {
      const streamId = ids.next();
      const messageId = leftover.messageId || streamId;
      stream.fail({ streamId, messageId, requestId, continuation: false }, message);
    }
    const encoder = createResponseEncoder({ requestId, continuation: false });
    broadcast(encoder.end({ outcome: "error", error: message }));
  }

  /** The frame for a connection that arrives while a turn is being recovered. */
  greet(connectionId: string): void {
    const { store, clock, send } = this.#parts;
    const flag = store.recovering(clock.now());
    if (flag) send(connectionId, recoveringFrame(true, flag.requestId));
  }

  /** Whether an interrupted turn is waiting to be carried on. */
  get isRecovering(): boolean {
    const { store, clock } = this.#parts;
    return store.recovering(clock.now()) !== null;
  }

  /** Whether an attempt may be planned; asked at every wake, so it must not cost more than a look. */
  get hasPlans(): boolean {
    return this.#parts.store.hasFlag;
  }

  clearRecovering(): void {
    const { store, clock, broadcast } = this.#parts;
    const flag = store.recovering(clock.now());
    store.setRecovering(null);
    if (flag) broadcast(recoveringFrame(false, flag.requestId));
  }

  /** The conversation is gone, and its incidents with it. */
  clear(): void {
    const { store } = this.#parts;
    const planned = store.list().flatMap(({ scheduleId }) => scheduleId ?? []);
    this.clearRecovering();
    store.clear();
    for (const scheduleId of planned) void this.#cancel(scheduleId);
  }

  #setRecovering(requestId: string): void {
    const { store, clock, broadcast } = this.#parts;
    if (store.recovering(clock.now())) return;
    store.setRecovering({ requestId, at: clock.now() });
    broadcast(recoveringFrame(true, requestId));
  }

  /** A schedule that stays is ignored when it fires (I2); only its row costs something. */
  async #cancel(scheduleId: string): Promise<void> {
    try {
      await this.#parts.schedules.cancel(scheduleId);
    } catch (error) {
      console.warn(`[Think] A superseded recovery schedule stays: ${errorText(error)}`);
    }
  }

  async #mayGoOn(
    question: NonNullable<Advance["ask"]>,
    { shouldKeepRecovering }: ResolvedChatRecoveryConfig
  ): Promise<boolean> {
    if (!shouldKeepRecovering) return true;
    try {
      const answer: unknown = await shouldKeepRecovering(question);
      return answer !== false;
    } catch (error) {
      console.error(`[Think] shouldKeepRecovering failed, recovery goes on: ${errorText(error)}`, error);
      return true;
    }
  }
}

function recoveringFrame(recovering: boolean, requestId: string | undefined): string {
  const id = requestId === undefined ? {} : { id: requestId };
  return encodeFrame({ type: FRAME.chatRecovering, recovering, ...id });
}
