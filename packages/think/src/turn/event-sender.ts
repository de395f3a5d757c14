/**
 * The way of a turn's chunks to a caller that answers each call, usually over RPC.
 *
 * I1. Calls are not awaited one by one: that would cost a round trip per token. At most `callbackEventsInFlight` are unanswered.
 * I2. Meanwhile chunks are held back, and adjacent deltas become one: a caller that falls behind gets fewer and larger events, in order.
 * I3. When `callbackHeldChars` are held the turn waits, so a slow caller bounds memory instead of filling it.
 * I4. A caller that fails is not called again.
 */
import type { UIMessageChunk } from "ai";
import { LIMITS } from "../shared/limits";
import { ChunkPack } from "../stream/chunk-packing";

export interface EventCaller {
  send(json: string): void | Promise<void>;
  /** A call failed; no other follows. */
  failed(error: unknown): void;
}

export class EventSender {
  readonly #caller: EventCaller;
  readonly #held = new ChunkPack();
  #ready: string[] = [];
  #unanswered = 0;
  #isStopped = false;
  #answer = Promise.withResolvers<void>();

  constructor(caller: EventCaller) {
    this.#caller = caller;
  }

  /** Returns a promise when the turn must wait. */
  push(chunk: UIMessageChunk, json: string): Promise<void> | undefined {
    if (this.#isStopped) return undefined;
    if (this.#hasRoom && this.#isEmpty) {
      this.#send(json);
      return undefined;
    }
    this.#held.add(chunk, json.length);
    return this.#held.chars >= LIMITS.callbackHeldChars ? this.#answer.promise : undefined;
  }

  /** Resolves when everything was sent and answered, or the caller failed. */
  async flush(): Promise<void> {
    while (!this.#isStopped && (this.#unanswered > 0 || !this.#isEmpty)) await this.#answer.promise;
  }

  /** Drops what is held back. */
  stop(): void {
    this.#isStopped = true;
    this.#ready = [];
    this.#held.clear();
  }

  get #hasRoom(): boolean {
    return this.#unanswered < LIMITS.callbackEventsInFlight;
  }

  get #isEmpty(): boolean {
    return this.#held.isEmpty && this.#ready.length === 0;
  }

  #send(json: string): void {
    try {
      const sent = this.#caller.send(json);
      if (!sent) return;
      this.#unanswered += 1;
      void this.#answered(sent);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #answered(sent: Promise<void>): Promise<void> {
    try {
      await sent;
    } catch (error) {
      this.#fail(error);
    }
    this.#unanswered -= 1;
    this.#drain();
    const { resolve } = this.#answer;
    this.#answer = Promise.withResolvers();
    resolve();
  }

  #drain(): void {
    if (this.#ready.length === 0) {
      this.#ready = this.#held.chunks().map((chunk) => JSON.stringify(chunk));
      this.#held.clear();
    }
    while (this.#hasRoom && !this.#isStopped) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      this.#send(next);
    }
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#caller.failed(error);
  }
}
