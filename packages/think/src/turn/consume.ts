/**
 * The one consumer of the model's stream. It builds the message, hands every chunk to the sinks and decides how the stream ended;
 * sockets, storage and callers are sinks and see the same chunks in the same order.
 *
 * I1. An error chunk ends the stream: whatever the provider sends after it is ignored.
 * I2. An aborted signal ends the stream even when the provider or a tool ignores it.
 * I3. The first `start` chunk carries the id under which the message is stored.
 */
import type { UIMessageChunk } from "ai";
import { errorText } from "../shared/errors/error-text";
import type { MessageAccumulator } from "../stream/accumulator";
import type { Turn, TurnOutcome } from "./turn";

/** Receives each chunk after it has been accumulated; `json` is the chunk as JSON text. */
export interface ChunkSink {
  chunk(chunk: UIMessageChunk, json: string): void | Promise<void>;
}

export interface Consumption {
  readonly turn: Turn;
  readonly chunks: ReadableStream<UIMessageChunk>;
  /** The provider's own error behind an error chunk. */
  readonly failure: () => unknown;
  readonly accumulator: MessageAccumulator;
  readonly sink: ChunkSink;
}

export async function consumeStream(consumption: Consumption): Promise<TurnOutcome> {
  const { turn, chunks, accumulator, sink } = consumption;
  const reader = chunks.getReader();
  // Cancelling the reader resolves a pending read at once, so a provider that never answers cannot hold the turn (I2).
  const stop = () => void reader.cancel().catch(() => undefined);
  turn.signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (turn.signal.aborted || value?.type === "abort") return { status: "aborted" };
      if (done) return { status: "completed" };
      if (value.type === "error") return failed(value.errorText, consumption.failure());
      const chunk = withMessageId(value, turn, accumulator);
      accumulator.apply(chunk);
      const pending = sink.chunk(chunk, JSON.stringify(chunk));
      if (pending) await pending;
    }
  } catch (error) {
    return turn.signal.aborted ? { status: "aborted" } : failed(errorText(error), error);
  } finally {
    turn.signal.removeEventListener("abort", stop);
    stop();
  }
}

function failed(error: string, cause: unknown): TurnOutcome {
  return { status: "error", error, cause: cause ?? new Error(error) };
}

function withMessageId(chunk: UIMessageChunk, turn: Turn, accumulator: MessageAccumulator): UIMessageChunk {
  if (chunk.type !== "start" || chunk.messageId !== undefined || turn.continuation) return chunk;
  return { ...chunk, messageId: accumulator.id };
}
