/**
 * A run's stream as UI chunks, at the least cost per chunk; `sdk.ts` starts the run and asks for them. The AI SDK's `toUIMessageStream()`
 * sends every part through three streams of its own, for ids and callbacks that a turn does not ask for; in workerd each of them costs more
 * than all that a turn does with a chunk. Where the SDK offers its conversion of a single part (version 7), one stream is enough.
 *
 * I1. The chunks are those of `toUIMessageStream()` of the newest version, one for one (`ui-chunks.test.ts` compares them).
 * I2. Nothing is read ahead. A reader that cancels, and a part that cannot be converted, cancel the run's stream.
 */
import * as ai from "ai";
import { streamText, type TextStreamPart, type ToolSet, type UIMessageChunk } from "ai";
import { errorText } from "../shared/errors/error-text";
import type { CallSettings } from "./turn-config";

type Part = TextStreamPart<ToolSet>;
type Run = ReturnType<typeof streamText>;

/** What a turn reads of a run. Only a repeatable run has an output, and version 6 has no `stream`. */
export type ModelRun = Pick<Run, "toUIMessageStream"> & Partial<Pick<Run, "output" | "stream">>;

export interface ChunkSettings {
  /** The tools that the run was started with. */
  readonly tools: ToolSet | undefined;
  readonly sendReasoning: boolean;
}

type ToChunk = (
  part: Part,
  options: ChunkSettings & { readonly onError: (error: unknown) => string }
) => UIMessageChunk | undefined;

/**
 * What only some releases export. Asked through the namespace: a named import that is missing would break a bundle with the others. Each
 * member is spelled out, so that bundlers still leave out the rest of the SDK. With version 6 both are undefined; wrangler says nothing
 * about that, Vite warns once per name.
 */
const optional = {
  streamOnce: (ai as { readonly experimental_streamTextLowMemory?: (settings: CallSettings) => ModelRun })
    .experimental_streamTextLowMemory,
  toChunk: (ai as { readonly toUIMessageChunk?: ToChunk }).toUIMessageChunk
};

/** Starts a run whose stream is read once: from 7.0.144 on the SDK can do without a copy of every part for further readers. */
export const streamOnce: (settings: CallSettings) => ModelRun = optional.streamOnce ?? streamText;

export function uiChunks(run: ModelRun, settings: ChunkSettings): ReadableStream<UIMessageChunk> {
  const options = { ...settings, onError: errorText };
  const { toChunk } = optional;
  // Asking for the stream takes it: it is asked for once.
  const parts = toChunk && run.stream;
  if (toChunk && parts) return convert(parts, (part) => toChunk(part, options));
  return run.toUIMessageStream({ sendReasoning: settings.sendReasoning, onError: errorText });
}

function convert(
  parts: ReadableStream<Part>,
  toChunk: (part: Part) => UIMessageChunk | undefined
): ReadableStream<UIMessageChunk> {
  const reader = parts.getReader();
  const isRepeated = invalidCalls();
  return new ReadableStream<UIMessageChunk>(
    {
      async pull(controller) {
        try {
          // Parts without a chunk are passed over: a pull that enqueues nothing is not repeated.
          for (;;) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            const chunk = isRepeated(value) ? undefined : toChunk(value);
            if (chunk !== undefined) return controller.enqueue(chunk);
          }
        } catch (error) {
          // Not awaited: a source that is slow to end must not hold back the error. If it is the source that failed, this fails likewise.
          reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  );
}

/** A call that could not be parsed is an error in itself; the error that the SDK reports for it a second time is left out. */
function invalidCalls(): (part: Part) => boolean {
  const invalid = new Set<string>();
  return (part) => {
    if (part.type === "tool-call" && part.invalid === true) invalid.add(part.toolCallId);
    return part.type === "tool-error" && part.providerExecuted !== true && invalid.delete(part.toolCallId);
  };
}
