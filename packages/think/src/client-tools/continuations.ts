/**
 * Runs continuations: feeds the pure machine of `continuation.ts` with what happens, and performs what it asks for. Called by the tool
 * frames, the turns and the resume desk.
 */
import type { Clock, Ids, TimerHandle } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { LIMITS } from "../shared/limits";
import type { BatchState } from "./batch";
import {
  claimResume,
  NO_CONTINUATION,
  stepContinuation,
  type ContinuationEffect,
  type ContinuationEvent,
  type ContinuationFacts,
  type ContinuationState,
  type ResumeClaim
} from "./continuation";

export interface ContinuationsHost {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Whether a turn is streaming. */
  readonly streaming: () => boolean;
  readonly batch: () => BatchState;
  /** Runs the turn. `mayRun` is asked when its place in the queue has come. */
  readonly run: (requestId: string, mayRun: () => boolean) => Promise<unknown>;
  /** Offers the stream that has just started. */
  readonly offer: (connectionId: string) => void;
  /** Tells a connection that waited that there is nothing to resume. */
  readonly decline: (connectionId: string) => void;
  /** A continuation is over. */
  readonly settled: () => void;
}

export class Continuations {
  readonly #host: ContinuationsHost;
  #state: ContinuationState = NO_CONTINUATION;
  #timer: TimerHandle | undefined;

  constructor(host: ContinuationsHost) {
    this.#host = host;
  }

  /** Whether a continuation runs or is about to, without anybody doing anything more. */
  get isUnderWay(): boolean {
    return this.#state.armed || this.#state.running !== null;
  }

  /** Whether a continuation is wanted that something still holds up. */
  get isWanted(): boolean {
    return this.#state.pending !== null;
  }

  /** A tool was answered. */
  answered(connectionId: string | null, autoContinue: boolean): void {
    const facts = this.#facts();
    if (autoContinue)
      this.#dispatch({ type: "wanted", owner: connectionId, newId: this.#host.ids.next(), facts });
    else this.#dispatch({ type: "answered", facts });
  }

  /** A turn's stream exists and can be joined. */
  opened(requestId: string): void {
    this.#dispatch({ type: "opened", requestId });
  }

  /** A turn has left the stage. */
  stageFree(): void {
    this.#dispatch({ type: "stage-free", newId: this.#host.ids.next(), facts: this.#facts() });
  }

  /** A connection asks to resume; `activeRequestId` is the stream that could be offered now. */
  claim(connectionId: string, activeRequestId: string | null): ResumeClaim {
    const claim = claimResume(this.#state, connectionId, activeRequestId);
    if (claim.kind === "hold") this.#state = claim.state;
    return claim;
  }

  /** A connection is gone: what it owned is everybody's. */
  leave(connectionId: string): void {
    this.#dispatch({ type: "left", connectionId });
  }

  /** The conversation's turns are over: nothing is continued, and nobody waits in vain. */
  reset(): void {
    this.#dispatch({ type: "reset" });
  }

  #facts(): ContinuationFacts {
    return { streaming: this.#host.streaming(), batch: this.#host.batch() };
  }

  #dispatch(event: ContinuationEvent): void {
    const { state, effects } = stepContinuation(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: ContinuationEffect): void {
    switch (effect.type) {
      case "arm":
        this.#timer?.cancel();
        this.#timer = this.#host.clock.setTimer(
          () => this.#dispatch({ type: "timer", facts: this.#facts() }),
          LIMITS.continuationDelayMs
        );
        return;
      case "disarm":
        this.#timer?.cancel();
        return;
      case "run":
        void this.#run(effect.requestId);
        return;
      case "offer":
        for (const connectionId of effect.connectionIds) this.#host.offer(connectionId);
        return;
      case "decline":
        for (const connectionId of effect.connectionIds) this.#host.decline(connectionId);
        return;
    }
  }

  async #run(requestId: string): Promise<void> {
    try {
      // Turns that were queued before it may have told the model already.
      await this.#host.run(requestId, () => this.#host.batch() === "ready");
    } catch (error) {
      console.error(`[Think] Auto-continuation failed: ${errorText(error)}`, error);
    } finally {
      this.#dispatch({ type: "settled", requestId, newId: this.#host.ids.next(), facts: this.#facts() });
      this.#host.settled();
    }
  }
}
