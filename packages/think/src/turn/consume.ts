/**
 * The one consumer of the model's stream. It builds the message, hands every chunk to the sink and decides how the stream ended;
 * sockets, storage and callers are behind the sink and see the same chunks in the same order.
 *
 * I1. An error chunk ends the stream: whatever the provider sends after it is ignored.
 * I2. An aborted signal ends the stream even when the provider or a tool ignores it, and even when no further chunk comes.
 * I3. The first `start` chunk carries the id under which the message is stored.
 * I4. What is built equals what is stored: values that tools return are taken as their JSON, not as the tool's own objects.
 */
import type { UIMessageChunk } from "ai";
import type { ModelStream } from "../loop/sdk";
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import type { MessageAccumulator } from "../stream/accumulator";
import { unlessAborted } from "./aborts";
import { watchStall, type StallWatch } from "./stall-watch";
import type { Turn, TurnOutcome } from "./turn";

/** Receives each chunk after it has been accumulated; `json` is the chunk as JSON text. */
export interface ChunkSink {
  chunk(chunk: UIMessageChunk, json: string): void | Promise<void>;
  /** A tool outcome that belongs to an earlier message; called before `chunk`. */
  foreignTool(chunk: UIMessageChunk): void;
}

export interface Consumption {
  readonly turn: Turn;
  readonly stream: ModelStream;
  readonly accumulator: MessageAccumulator;
  readonly sink: ChunkSink;
  readonly clock: Clock;
  /** Longest silence between chunks, in ms; 0 is no limit. */
  readonly stallTimeoutMs: number;
}

/** The stream said nothing for too long; `timeoutMs` is how long. */
export interface Stalled {
  readonly status: "stalled";
  readonly timeoutMs: number;
}

export async function consumeStream(consumption: Consumption): Promise<TurnOutcome | Stalled> {
  const { turn, stream, accumulator, sink, clock, stallTimeoutMs } = consumption;
  const reader = stream.chunks.getReader();
  // Cancelling the reader resolves a pending read at once, so a provider that never answers cannot hold the turn (I2).
  const stop = () => void reader.cancel().catch(() => undefined);
  turn.signal.addEventListener("abort", stop, { once: true });
  const watch = stallTimeoutMs > 0 ? watchStall(clock, stallTimeoutMs, stop) : undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (turn.signal.aborted || value?.type === "abort") return { status: "aborted" };
      if (watch?.hasStalled) return { status: "stalled", timeoutMs: stallTimeoutMs };
      if (done) return { status: "completed" };
      // The type promises a text; a provider may still leave it out.
      if (value.type === "error") return failed(value.errorText ?? JSON.stringify(value), stream.failure());
      const json = JSON.stringify(withMessageId(value, turn, accumulator));
      const chunk = isPlain(value) ? value : (JSON.parse(json) as UIMessageChunk);
      if (accumulator.apply(chunk).kind === "foreign-tool") sink.foreignTool(chunk);
      const pending = sink.chunk(chunk, json);
      if (pending) await unlessAborted(pending, turn.signal);
      watch?.heard();
    }
  } catch (error) {
    if (turn.signal.aborted) return { status: "aborted" };
    return stalled(watch, stallTimeoutMs) ?? failed(errorText(error), error);
  } finally {
    watch?.close();
    turn.signal.removeEventListener("abort", stop);
    stop();
  }
}

function stalled(watch: StallWatch | undefined, timeoutMs: number): Stalled | undefined {
  return watch?.hasStalled ? { status: "stalled", timeoutMs } : undefined;
}

/** The many chunks that carry nothing but text. */
function isPlain({ type }: UIMessageChunk): boolean {
  return type === "text-delta" || type === "reasoning-delta" || type === "tool-input-delta";
}

function failed(error: string, cause: unknown): TurnOutcome {
  return { status: "error", error, cause: cause ?? new Error(error), stage: "stream" };
}

function withMessageId(chunk: UIMessageChunk, turn: Turn, accumulator: MessageAccumulator): UIMessageChunk {
  if (chunk.type !== "start" || chunk.messageId !== undefined || turn.continuation) return chunk;
  return { ...chunk, messageId: accumulator.id };
}
