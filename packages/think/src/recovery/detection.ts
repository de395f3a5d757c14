/**
 * Finds the turn that an earlier isolate left unfinished, asks the author, keeps what is worth keeping and plans how it goes on. Runs when the
 * object wakes, before the author's `onStart`: by a request, or by the heartbeat alarm of the turn alone.
 *
 * I1. The next attempt is planned before the interrupted stream is closed: a crash in between repeats this and loses nothing.
 * I2. Settled tool results are never dropped, whatever the author says.
 * I3. A planned attempt has its alarm whenever the object is awake.
 * I4. Whoever clears or asks again while the author is being heard has the last word: then the interrupted turn is left alone.
 */
import { createResponseEncoder } from "../protocol/encode";
import { errorText } from "../shared/errors/error-text";
import { inTime } from "../shared/in-time";
import { RECOVERY_LIMITS } from "../shared/limits";
import { settleOrphan } from "../turn/settle-orphan";
import type { ResolvedChatRecoveryConfig } from "./config";
import { keepsPartial, verdict } from "./engine";
import type { Incident, RecoveryKind } from "./incident";
import type { Incidents } from "./incidents";
import {
  evidenceOf,
  interruptedTurn,
  kindOf,
  partialOf,
  payloadOf,
  type InterruptedTurn
} from "./interrupted-turn";
import type { ChatRecoveryContext, ChatRecoveryOptions, RecoveryParts } from "./recovery-types";
import { parseJson } from "./snapshot";

const DISABLED = "The answer was interrupted, and chat recovery was disabled for it. Please ask again.";

interface SettleOptions {
  /** Another end follows. */
  readonly silent?: boolean;
  readonly outcome?: "aborted" | "recovering";
}

export class Detection {
  readonly #parts: RecoveryParts;
  readonly #incidents: Incidents;

  constructor(parts: RecoveryParts, incidents: Incidents) {
    this.#parts = parts;
    this.#incidents = incidents;
  }

  /** Never throws. A detection that fails is repeated later, also when nobody comes. */
  async run(): Promise<void> {
    const { stream, schedules } = this.#parts;
    const { config } = this.#incidents;
    const orphan = stream.isLive ? null : stream.active;
    if (!orphan || !config) return this.#rearm();
    try {
      await this.#recover(interruptedTurn(orphan, partialOf(orphan, this.#parts)), config);
    } catch (error) {
      console.error(`[Think] An interrupted turn could not be recovered yet: ${errorText(error)}`, error);
      await schedules.schedule(RECOVERY_LIMITS.redetectSeconds, "_chatRecoveryDetect", {}).catch(() => "");
    }
  }

  /** What an earlier isolate has planned waits for its alarm, which that isolate may not have lived to set. */
  async #rearm(): Promise<void> {
    if (!this.#incidents.hasPlans) return;
    try {
      await this.#parts.schedules.rearm();
    } catch (error) {
      console.error(`[Think] The alarm of a planned recovery could not be set: ${errorText(error)}`, error);
    }
  }

  async #recover(turn: InterruptedTurn, config: ResolvedChatRecoveryConfig): Promise<void> {
    const evidence = evidenceOf(turn, this.#parts);
    const { incident, exhausted } = await this.#incidents.advance(evidence, config);
    if (this.#isOvertaken(turn)) return this.#incidents.drop(incident);
    if (exhausted) return this.#giveUp(turn, incident, { reason: exhausted, config });
    try {
      if (evidence.waitingOnHuman) return this.#park(turn, incident);
      const options = await this.#ask(turn, incident, evidence.kind);
      if (this.#isOvertaken(turn)) return this.#incidents.drop(incident);
      await this.#act(turn, incident, options);
    } catch (error) {
      if (this.#isOvertaken(turn)) return this.#incidents.drop(incident);
      this.#incidents.close(incident, "failed", errorText(error));
      throw error;
    }
  }

  /** Whether the stream was cleared, left or taken over by another turn (I4). One that somebody settled meanwhile is carried on as planned. */
  #isOvertaken({ record }: InterruptedTurn): boolean {
    return this.#parts.stream.record?.id !== record.id;
  }

  /** The client's answer will carry the conversation on, whenever it comes; until then nothing is spent. */
  #park(turn: InterruptedTurn, incident: Incident): void {
    this.#settle(turn, true);
    this.#incidents.close(incident, "skipped", "awaiting_client_interaction");
  }

  async #giveUp(
    turn: InterruptedTurn,
    incident: Incident,
    { reason, config }: { reason: string; config: ResolvedChatRecoveryConfig }
  ): Promise<void> {
    const { leftover, record } = turn;
    await this.#incidents.exhaust(incident, { reason, leftover, config }, (message) => {
      if (this.#isOvertaken(turn)) return;
      this.#settle(turn, true, { silent: true });
      this.#incidents.tellFailure(record.requestId, message, leftover);
    });
  }

  async #act(turn: InterruptedTurn, incident: Incident, options: ChatRecoveryOptions): Promise<void> {
    const { partial, record, leftover } = turn;
    const { isHandedOver } = this.#parts;
    const isKept = partial !== null && keepsPartial(options.persist !== false, partial.parts, isHandedOver);
    const decision = verdict(kindOf(turn, isKept, this.#parts), options.continue !== false);
    switch (decision.action) {
      case "schedule": {
        const { kind } = decision;
        const payload = payloadOf(turn, { incidentId: incident.incidentId, kind, isKept }, this.#parts);
        await this.#incidents.plan(incident, kind, payload);
        // What overtakes it now makes the attempt find its object changed.
        return this.#isOvertaken(turn) ? undefined : this.#settle(turn, isKept, { outcome: "recovering" });
      }
      case "disabled":
        this.#settle(turn, isKept, { silent: true });
        this.#incidents.tellFailure(record.requestId, DISABLED, leftover);
        return this.#incidents.close(incident, "skipped", "continue_disabled");
      case "skip":
        this.#settle(turn, isKept);
        return this.#incidents.close(incident, "skipped", decision.reason);
    }
  }

  /** Closes the interrupted stream. Those who still wait for its end get it, unless another end follows (`silent`). */
  #settle(
    { record }: InterruptedTurn,
    isKept: boolean,
    { silent = false, outcome = "aborted" }: SettleOptions = {}
  ): void {
    const { stream, conversation, broadcast, announce } = this.#parts;
    const hasGained = isKept && settleOrphan(stream, conversation);
    if (!isKept && stream.active) stream.finish({ status: "completed", aborted: true });
    // As a replay, it is ignored by clients that do not wait for it.
    if (!silent) broadcast(createResponseEncoder(record).end({ outcome }, true));
    if (hasGained) announce();
  }

  /** The whole object waits for the author's hook: it has a time limit. */
  async #ask(turn: InterruptedTurn, incident: Incident, kind: RecoveryKind): Promise<ChatRecoveryOptions> {
    const { hook, clock } = this.#parts;
    const ms = RECOVERY_LIMITS.hookMs;
    const late = () => new Error(`onChatRecovery() took longer than ${ms} ms.`);
    return (await inTime(clock, hook(this.#context(turn, incident, kind)), { ms, late })) ?? {};
  }

  #context(turn: InterruptedTurn, incident: Incident, recoveryKind: RecoveryKind): ChatRecoveryContext {
    const { record, snapshot, partial, leftover } = turn;
    const { incidentId, attempt, maxAttempts, requestId } = incident;
    return {
      ...{ incidentId, attempt, maxAttempts, requestId, recoveryKind },
      recoveryRootRequestId: turn.rootRequestId,
      streamId: record.id,
      partialText: leftover.partialText,
      partialParts: partial?.parts ?? [],
      recoveryData: parseJson(record.stash),
      messages: [...this.#parts.conversation.messages],
      ...(snapshot?.lastBody ? { lastBody: snapshot.lastBody } : {}),
      ...(snapshot?.lastClientTools ? { lastClientTools: snapshot.lastClientTools } : {}),
      createdAt: record.createdAt
    };
  }
}
