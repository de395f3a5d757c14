/**
 * Recovery as the rest of the package sees it: told of wakes, stalls, ends and clears; asked what to keep of a turn. The parts do the work.
 */
import type { LiveTurn } from "../turn/turn-parts";
import type { Turn, TurnOutcome } from "../turn/turn";
import { errorText } from "../shared/errors/error-text";
import { RECOVERY_LIMITS } from "../shared/limits";
import { Attempts } from "./attempts";
import { Detection } from "./detection";
import type { Incident, RecoveryKind } from "./incident";
import { Incidents } from "./incidents";
import { evidenceOf, interruptedTurn, kindOf, payloadOf } from "./interrupted-turn";
import type { RecoveryParts } from "./recovery-types";
import { encodeSnapshot } from "./snapshot";

export class Recovery {
  readonly #parts: RecoveryParts;
  readonly #incidents: Incidents;
  readonly #detection: Detection;
  readonly #attempts: Attempts;
  #childProgressAt = -Infinity;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
    this.#incidents = new Incidents(parts);
    this.#detection = new Detection(parts, this.#incidents);
    this.#attempts = new Attempts(parts, this.#incidents);
  }

  get isOn(): boolean {
    return this.#incidents.config !== null;
  }

  /** Whether an interrupted turn of the active session is waiting to be carried on. */
  get isPending(): boolean {
    return this.#incidents.isRecovering;
  }

  /** What is known of an owner's interrupted turn. */
  incidentOf(ownerId: string): Incident | undefined {
    return this.#parts.store.list().find((incident) => incident.ownerId === ownerId);
  }

  /** The object woke, or a failed detection is repeated. Never throws. */
  detect(): Promise<void> {
    return this.#detection.run();
  }

  /** A schedule fires. */
  attempt(kind: RecoveryKind, payload: unknown, scheduleId: string | undefined): Promise<void> {
    return this.#attempts.run(kind, payload, scheduleId);
  }

  /** What the stream's row keeps of a turn that begins. */
  remember(turn: Turn): string | undefined {
    if (!this.isOn) return undefined;
    const { conversation, sessionId } = this.#parts;
    const path = conversation.upTo(turn.parentId);
    return encodeSnapshot(turn, {
      latestMessageId: conversation.messages.at(-1)?.id,
      latestUserMessageId: path.findLast((message) => message.role === "user")?.id,
      sessionId: sessionId()
    });
  }

  /** A model's stream came to a standstill. Undefined: recovery is off, or the turn cannot go on. */
  async stalled({ turn, accumulator }: LiveTurn, timeoutMs: number): Promise<TurnOutcome | undefined> {
    const { emit, stream } = this.#parts;
    emit("chat:stream:stalled", { requestId: turn.requestId, timeoutMs });
    const { config } = this.#incidents;
    const { record } = stream;
    if (!config || !record) return undefined;
    // What follows takes time; a crash meanwhile must find everything.
    stream.flush();
    const partial = accumulator.isEmpty ? null : accumulator.snapshot();
    const interrupted = interruptedTurn(record, partial);
    const { incident, exhausted } = await this.#incidents.advance(
      evidenceOf(interrupted, this.#parts),
      config
    );
    // Cleared while the author was asked: the turn belongs to nothing any more.
    if (stream.record?.id !== record.id) return undefined;
    if (exhausted) {
      const { leftover } = interrupted;
      // The turn itself tells clients, with its one end frame.
      await this.#incidents.exhaust(incident, { reason: exhausted, leftover, config }, undefined);
      return { status: "interrupted", error: config.terminalMessage };
    }
    const kind = kindOf(interrupted, true, this.#parts);
    if (!kind) {
      this.#incidents.close(incident, "skipped", "not_recoverable");
      return undefined;
    }
    const { incidentId } = incident;
    const payload = payloadOf(interrupted, { incidentId, kind, isKept: true }, this.#parts);
    try {
      await this.#incidents.plan(incident, kind, payload);
    } catch (error) {
      this.#incidents.close(incident, "failed", errorText(error));
      throw error;
    }
    return { status: "interrupted" };
  }

  /** A turn has ended for good: whatever it was, nobody is being recovered now. */
  ended(outcome: TurnOutcome): void {
    if (outcome.status !== "interrupted") this.#incidents.clearRecovering();
  }

  /** Tells a new connection that a turn is being recovered. */
  greet(connectionId: string): void {
    this.#incidents.greet(connectionId);
  }

  /** A child's stream moves: that is progress of the turn that waits for it, counted now and then. */
  childProgress(): void {
    const now = this.#parts.clock.now();
    if (now - this.#childProgressAt < RECOVERY_LIMITS.childProgressMs) return;
    this.#childProgressAt = now;
    this.#parts.stream.addProgress();
  }

  /** The conversation was cleared. */
  clear(): void {
    this.#incidents.clear();
  }
}
