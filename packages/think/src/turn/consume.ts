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
import { errorText } from "../shared/errors/error-text";
import type { MessageAccumulator } from "../stream/accumulator";
import { unlessAborted } from "./aborts";
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
}

export async function consumeStream({ turn, stream, accumulator, sink }: Consumption): Promise<TurnOutcome> {
  const reader = stream.chunks.getReader();
  // Cancelling the reader resolves a pending read at once, so a provider that never answers cannot hold the turn (I2).
  const stop = () => void reader.cancel().catch(() => undefined);
  turn.signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (turn.signal.aborted || value?.type === "abort") return { status: "aborted" };
      if (done) return { status: "completed" };
      // The type promises a text; a provider may still leave it out.
      if (value.type === "error") return failed(value.errorText ?? JSON.stringify(value), stream.failure());
      const json = JSON.stringify(withMessageId(value, turn, accumulator));
      const chunk = isPlain(value) ? value : (JSON.parse(json) as UIMessageChunk);
      if (accumulator.apply(chunk).kind === "foreign-tool") sink.foreignTool(chunk);
      const pending = sink.chunk(chunk, json);
      if (pending) await unlessAborted(pending, turn.signal);
    }
  } catch (error) {
    return turn.signal.aborted ? { status: "aborted" } : failed(errorText(error), error);
  } finally {
    turn.signal.removeEventListener("abort", stop);
    stop();
  }
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
