/**
 * A run as a stream of bytes: one JSON object `{sequence, body}` per line, because streams of objects do not cross RPC. The reader's pace
 * is the stream's pace: a page is read when it is asked for, and between pages only the cursor is kept.
 *
 * I1. A reader that goes, or whose signal fires, only stops reading; the run does not notice.
 * I2. The stream ends when the run has ended and everything was read.
 */
import type { AgentToolStoredChunk } from "./child-run";

export interface TailSource {
  page(after: number): readonly AgentToolStoredChunk[];
  /** Whether no further chunk will come. */
  isOver(): boolean;
  /** Calls back when a chunk came or the run ended, until the returned function is called. */
  watch(news: () => void): () => void;
}

const encoder = new TextEncoder();

export function openTail(
  source: TailSource,
  after: number,
  signal?: AbortSignal
): ReadableStream<Uint8Array> {
  let cursor = after;
  let news = Promise.withResolvers<void>();
  let isDetached = signal?.aborted ?? false;
  const unwatch = source.watch(() => news.resolve());
  const detach = () => {
    isDetached = true;
    unwatch();
    signal?.removeEventListener("abort", detach);
    news.resolve();
  };
  signal?.addEventListener("abort", detach, { once: true });

  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      for (;;) {
        news = Promise.withResolvers<void>();
        const page = isDetached ? [] : source.page(cursor);
        const last = page.at(-1);
        if (last) {
          cursor = last.sequence;
          return controller.enqueue(encodePage(page));
        }
        if (isDetached || source.isOver()) {
          detach();
          controller.close();
          // A reader with a buffer of its own waits until it is answered.
          controller.byobRequest?.respond(0);
          return;
        }
        await news.promise;
      }
    },
    cancel: detach
  });
}

function encodePage(page: readonly AgentToolStoredChunk[]): Uint8Array {
  return encoder.encode(page.map((chunk) => `${JSON.stringify(chunk)}\n`).join(""));
}

/** A caller's place: anything that is none means the beginning. */
export function placeOf(afterSequence: unknown): number {
  return typeof afterSequence === "number" && afterSequence >= 0 ? Math.floor(afterSequence) : -1;
}
