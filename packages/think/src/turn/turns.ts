/**
 * Runs turns: admits them to the queue, gives each a signal, drives the model stream into the sink and ends it exactly once.
 * WebSocket requests, programmatic calls and continuations all come through `run`.
 *
 * I1. Every turn that starts ends through its sink's `end`, once, whatever fails and wherever.
 * I2. Wire, stored stream, response hook and result are told the same outcome.
 * I3. After a turn its abort controller is gone and its place in the queue is free; only then the response hook runs.
 */
import type { UIMessage } from "ai";
import type { ModelStream } from "../loop/sdk";
import { errorText } from "../shared/errors/error-text";
import { MessageAccumulator } from "../stream/accumulator";
import { AbortRegistry, unlessAborted, type CancellableTurn } from "./aborts";
import { consumeStream, type ChunkSink, type Stalled } from "./consume";
import { withFollower } from "./follower";
import { keepAliveAfter } from "./keep-alive";
import { TurnQueue } from "./queue";
import type { Turn, TurnOutcome, TurnResult } from "./turn";
import type { LiveTurn, Rescue, TurnRequest, TurnResponse, TurnSink, TurnsOptions } from "./turn-parts";

/** A turn on the stage. */
interface Running {
  readonly turn: Turn;
  /** Stops its model and tools. */
  readonly abort: () => void;
  readonly over: Promise<void>;
}

type Executed = { readonly result: TurnResult; readonly response?: TurnResponse };

/** How the last attempt ended, with what it built. */
interface Attempted {
  readonly live: LiveTurn;
  readonly outcome: TurnOutcome;
}

const FAIL: Rescue = { action: "fail" };

const ABORTED: TurnOutcome = { status: "aborted" };

const SKIPPED: Executed = { result: { status: "skipped" } };

export class Turns {
  readonly #options: TurnsOptions;
  readonly #queue = new TurnQueue();
  readonly #aborts = new AbortRegistry();
  #live: LiveTurn | undefined;
  /** Arms the heartbeat of the running turn. */
  #hold: (() => void) | undefined;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get generation(): number {
    return this.#queue.generation;
  }

  /** Turns of the current conversation that run or wait. */
  get size(): number {
    return this.#queue.size;
  }

  /** The turn that is streaming now. */
  get live(): LiveTurn | undefined {
    return this.#live;
  }

  /** Requests that can be cancelled. */
  get cancellable(): number {
    return this.#aborts.size;
  }

  async run(request: TurnRequest): Promise<TurnResult> {
    const { result, response } = await this.#inQueue(request);
    if (result.status === "skipped") return result;
    await request.follower?.ended(result);
    if (response) await this.#options.responded(response);
    return result;
  }

  /** Nobody is left who would come back by himself: the running turn must be noticed by an alarm if it is interrupted. */
  holdAlive(): void {
    this.#hold?.();
  }

  cancel(requestId: string): void {
    this.#aborts.cancel(requestId);
  }

  cancelAll(): void {
    this.#aborts.cancelAll();
  }

  /** Ends what runs and makes what waits stale: the conversation it belonged to is gone. */
  reset(): void {
    this.#queue.reset();
    this.#aborts.cancelAll();
    this.#live = undefined;
  }

  /** Resolves when no turn runs or waits. */
  whenIdle(): Promise<void> {
    return this.#queue.idle();
  }

  #admit(
    { requestId, generation, continuation, rootRequestId, ...request }: TurnRequest,
    { signal }: CancellableTurn
  ): Turn {
    const { body, clientTools, onClientToolCall, parentId, ownerId, messageIds } = request;
    return {
      requestId,
      rootRequestId: rootRequestId ?? requestId,
      ownerId,
      messageIds,
      generation: generation ?? this.#queue.generation,
      messageId: this.#options.ids.next(),
      continuation: continuation ?? false,
      signal,
      body,
      clientTools,
      onClientToolCall,
      parentId
    };
  }

  async #inQueue(request: TurnRequest): Promise<Executed> {
    const cancellable = this.#aborts.open(request.requestId, request.signal);
    const turn = this.#admit(request, cancellable);
    try {
      // Without it there must be no wait: requests are queued in the order in which they arrive.
      if (request.accepted) await request.accepted();
      const ran = await this.#queue.enqueue(
        () => this.#options.within(turn, () => this.#execute(turn, request, cancellable.abort)),
        turn.generation
      );
      return ran.status === "stale" ? SKIPPED : ran.value;
    } finally {
      cancellable.close();
    }
  }

  #isCurrent(turn: Turn): boolean {
    return turn.generation === this.#queue.generation;
  }

  async #execute(turn: Turn, request: TurnRequest, abort: () => void): Promise<Executed> {
    const { clock, keepAlive, keepAliveAfterMs } = this.#options;
    const kept = keepAliveAfter(keepAliveAfterMs(turn), clock, keepAlive);
    this.#hold = kept.hold;
    const { promise: over, resolve: leave } = Promise.withResolvers<void>();
    let isHandedOver = false;
    try {
      const prepared = await this.#prepare(turn, request);
      if (prepared !== true) return prepared;
      if (!this.#isCurrent(turn)) return SKIPPED;
      const sink = this.#options.openSink(turn);
      request.started?.();
      const chunks = withFollower(sink, request.follower);
      const { live, outcome } = await this.#attempts({ turn, abort, over }, chunks, sink);
      isHandedOver = outcome.status === "interrupted" && outcome.error === undefined;
      return this.#end(live, sink, outcome);
    } finally {
      this.#live = undefined;
      this.#hold = undefined;
      kept.release();
      leave();
      this.#options.idle(isHandedOver);
    }
  }

  /** The turn, once more each time that what failed it could be removed. */
  async #attempts({ turn, abort, over }: Running, chunks: ChunkSink, sink: TurnSink): Promise<Attempted> {
    for (let attempt = 0; ; attempt += 1) {
      const accumulator = new MessageAccumulator(turn.messageId, { keepId: turn.continuation });
      const live = (this.#live = { turn, accumulator, over });
      const outcome = await this.#stream(live, chunks);
      if (outcome.status === "stalled")
        return { live, outcome: await this.#stalled(live, outcome.timeoutMs, abort) };
      if (outcome.status !== "error" || outcome.stage !== "stream") return { live, outcome };
      const { cause } = outcome;
      const rescue = await rescued(() => this.#options.rescue.failed(turn, cause, attempt), FAIL);
      if (rescue.action === "fail" || !this.#isCurrent(turn)) {
        const { classification } = { classification: undefined, ...rescue };
        return { live, outcome: turn.signal.aborted ? ABORTED : { ...outcome, classification } };
      }
      sink.restart();
    }
  }

  async #stalled(live: LiveTurn, timeoutMs: number, abort: () => void): Promise<TurnOutcome> {
    const error = `Chat stream stalled: nothing was heard for ${timeoutMs} ms, so the turn was stopped.`;
    // The provider and the tools are told to stop; for the turn itself this is no cancellation.
    abort();
    const { rescue } = this.#options;
    const outcome = this.#isCurrent(live.turn)
      ? await rescued(() => rescue.stalled(live, timeoutMs), undefined)
      : undefined;
    return outcome ?? { status: "error", error, cause: new Error(error), stage: "stream" };
  }

  /** True when the turn may run; otherwise how it ended. A failure here is one before anything was stored. */
  async #prepare(turn: Turn, { prepare }: TurnRequest): Promise<true | Executed> {
    try {
      return !prepare || (await prepare()) ? true : SKIPPED;
    } catch (cause) {
      const context = { requestId: turn.requestId, stage: "persist", messagesPersisted: false } as const;
      const { text, error } = this.#options.reportFailure(cause, context);
      return { result: { status: "error", error: text, cause: error, stage: "turn", message: null } };
    }
  }

  async #stream(live: LiveTurn, sink: ChunkSink): Promise<TurnOutcome | Stalled> {
    const { turn, accumulator } = live;
    if (turn.signal.aborted) return { status: "aborted" };
    let stream: ModelStream | undefined;
    try {
      stream = await unlessAborted(this.#options.startModel(turn), turn.signal);
    } catch (error) {
      if (turn.signal.aborted) return { status: "aborted" };
      return { status: "error", error: errorText(error), cause: error, stage: "turn" };
    }
    if (!stream) return { status: "aborted" };
    if (this.#live === live) this.#live = { ...live, serverTools: stream.serverTools };
    const { clock, rescue } = this.#options;
    const stallTimeoutMs = stream.stallTimeoutMs ?? rescue.stallTimeoutMs();
    const outcome = await consumeStream({ turn, stream, accumulator, sink, clock, stallTimeoutMs });
    if (outcome.status !== "completed") return outcome;
    // Asked for once: each time it gives a new promise, and one that nobody awaits would fail unhandled.
    const { output } = stream;
    if (!output) return outcome;
    return (await unlessAborted(withOutput(output), turn.signal)) ?? { status: "aborted" };
  }

  /** Synchronous from the stored message to the terminal frame, so that every observer sees all of it or nothing. */
  #end({ turn, accumulator }: LiveTurn, sink: TurnSink, outcome: TurnOutcome): Executed {
    accumulator.close();
    const current = this.#isCurrent(turn);
    const built = accumulator.snapshot();
    const message = current && !accumulator.isEmpty ? built : null;
    const saved = message === null ? outcome : this.#save(sink, message, outcome);
    const final = saved.status === "error" ? this.#report(turn, saved) : saved;
    sink.end(final, message);
    // A completed answer to a conversation that is gone is no answer; one that was stopped says so.
    if (!current) return final.status === "completed" ? SKIPPED : { result: { ...final, message } };
    const streamed = final.status !== "interrupted" && (final.status !== "error" || final.stage === "stream");
    return {
      result: { ...final, message },
      ...(streamed ? { response: { turn, outcome: final, message: built } } : {})
    };
  }

  /** A message that cannot be stored fails the turn; it must not fail the queue. */
  #save(sink: TurnSink, message: UIMessage, outcome: TurnOutcome): TurnOutcome {
    try {
      sink.save(message);
      return outcome;
    } catch (error) {
      return { status: "error", error: errorText(error), cause: error, stage: "stream" };
    }
  }

  #report(turn: Turn, outcome: TurnOutcome & { readonly status: "error" }): TurnOutcome {
    const { classification, stage } = outcome;
    const context = { requestId: turn.requestId, stage, messagesPersisted: true, classification };
    const { text, error } = this.#options.reportFailure(outcome.cause, context);
    return { ...outcome, error: text, cause: error };
  }
}

/** A rescue that fails itself must not keep the turn from ending (I1). */
async function rescued<Result>(rescue: () => Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await rescue();
  } catch (error) {
    console.error(`[Think] A turn in trouble could not be rescued: ${errorText(error)}`, error);
    return otherwise;
  }
}

/** Structured output is part of the answer: when it cannot be had, the turn failed although its text was streamed. */
async function withOutput(output: Promise<unknown>): Promise<TurnOutcome> {
  try {
    return { status: "completed", output: await output };
  } catch (error) {
    return { status: "error", error: errorText(error), cause: error, stage: "stream" };
  }
}
