/**
 * Runs turns: admits them to the queue, gives each a signal, drives the model stream into the sinks and ends it exactly once.
 * WebSocket requests, programmatic calls and continuations all come through `run`.
 *
 * I1. Every turn that starts ends through its sink's `end`, once, whatever fails and wherever.
 * I2. After a turn its abort controller is gone.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import type { Clock, Ids } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { LIMITS } from "../shared/limits";
import type { ModelStream } from "../loop/sdk";
import { MessageAccumulator } from "../stream/accumulator";
import { AbortRegistry } from "./aborts";
import { consumeStream } from "./consume";
import { TurnQueue } from "./queue";
import type { Turn, TurnOutcome, TurnResult } from "./turn";

export interface TurnRequest {
  readonly requestId: string;
  readonly continuation?: boolean;
  readonly parentId?: string | undefined;
  /** The queue generation at arrival, when work was done before `run` was called. */
  readonly generation?: number;
}

/** Where one turn's events go. */
export interface TurnSink {
  chunk(chunk: UIMessageChunk, json: string): void | Promise<void>;
  /** `message` is what was built; null when there is nothing, or when the conversation was cleared meanwhile. */
  end(outcome: TurnOutcome, message: UIMessage | null): void | Promise<void>;
}

export interface TurnsOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called when a turn's work begins, before the model is asked. */
  readonly openSink: (turn: Turn) => TurnSink;
  readonly startModel: (turn: Turn) => Promise<ModelStream>;
  /** Keeps the object from being evicted until the returned function is called. */
  readonly keepAlive: () => Promise<() => void>;
}

export class Turns {
  readonly #options: TurnsOptions;
  readonly #queue = new TurnQueue();
  readonly #aborts = new AbortRegistry();

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get generation(): number {
    return this.#queue.generation;
  }

  async run(request: TurnRequest): Promise<TurnResult> {
    const { requestId } = request;
    const turn: Turn = {
      requestId,
      generation: request.generation ?? this.#queue.generation,
      messageId: this.#options.ids.next(),
      continuation: request.continuation ?? false,
      parentId: request.parentId,
      signal: this.#aborts.signal(requestId)
    };
    try {
      const ran = await this.#queue.enqueue(() => this.#execute(turn), turn.generation);
      return ran.status === "stale" ? { status: "skipped" } : ran.value;
    } finally {
      this.#aborts.remove(requestId);
    }
  }

  cancel(requestId: string): void {
    this.#aborts.cancel(requestId);
  }

  /** Ends what runs and makes what waits stale: the conversation it belonged to is gone. */
  reset(): void {
    this.#queue.reset();
    this.#aborts.cancelAll();
  }

  async #execute(turn: Turn): Promise<TurnResult> {
    const release = this.#keepAliveWhenLong();
    try {
      const sink = this.#options.openSink(turn);
      const accumulator = new MessageAccumulator(turn.messageId);
      const outcome = await this.#stream(turn, accumulator, sink);
      accumulator.close();
      const current = turn.generation === this.#queue.generation;
      const message = current && !accumulator.isEmpty ? accumulator.snapshot() : null;
      await sink.end(outcome, message);
      return { ...outcome, message };
    } finally {
      release();
    }
  }

  async #stream(turn: Turn, accumulator: MessageAccumulator, sink: TurnSink): Promise<TurnOutcome> {
    if (turn.signal.aborted) return { status: "aborted" };
    try {
      const { chunks, failure } = await this.#options.startModel(turn);
      return await consumeStream({ turn, chunks, failure, accumulator, sink });
    } catch (error) {
      return turn.signal.aborted ? { status: "aborted" } : { status: "error", error: errorText(error), cause: error };
    }
  }

  /** Short turns end before an eviction could threaten them, and an alarm write is money: only a long one arms the heartbeat. */
  #keepAliveWhenLong(): () => void {
    let dispose: Promise<() => void> | undefined;
    const timer = this.#options.clock.setTimer(() => {
      dispose = this.#options.keepAlive();
    }, LIMITS.keepAliveAfterMs);
    return () => {
      timer.cancel();
      void dispose?.then((stop) => stop());
    };
  }
}
