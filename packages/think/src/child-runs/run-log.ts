/**
 * The chunks of runs, each with its place: those of moved streams, those in the rows of the stream, those still in memory. A reader has a
 * cursor and reads on from it; nothing is buffered for anybody, so a slow reader costs no memory and none can miss or repeat a chunk.
 *
 * I1. A place names one chunk for ever: what was sent live under it is what is read later.
 * I2. After a crash the places go on beyond those that somebody may have seen of what storage has lost.
 * I3. Chunks that only open something are tailed with what follows them: a child that opens a stream and falls silent has said nothing, and a
 *     parent that waits for it must be able to give up.
 * I4. At most `recentChars` of a running turn are kept in memory besides the stream's own buffer.
 */
import type { UIMessageChunk } from "ai";
import { CHILD_RUN_LIMITS, LIMITS } from "../shared/limits";
import { isOpening, isStorable, type ResumableStream } from "../stream/resumable-stream";
import type { AgentToolStoredChunk, ChildRun } from "./child-run";
import type { ChunkArchive, Segment } from "./chunk-archive";
import type { RunStore } from "./run-store";

export interface RunLogParts {
  readonly store: RunStore;
  readonly archive: ChunkArchive;
  readonly stream: Pick<ResumableStream, "record" | "counted" | "flush">;
}

/** The newest chunks of a run whose turns this isolate has seen. */
interface Recent {
  /** The place of the next chunk. */
  next: number;
  /** Places before this one may be tailed. */
  ready: number;
  readonly bodies: string[];
  chars: number;
}

export class RunLog {
  readonly #parts: RunLogParts;
  readonly #recent = new Map<string, Recent>();
  /** Whether the rows of the stream may hold chunks of a run; false spares every other turn the question. */
  #mayHold = true;

  constructor(parts: RunLogParts) {
    this.#parts = parts;
  }

  /** Runs that are followed in memory. */
  get size(): number {
    return this.#recent.size;
  }

  /** Another stream is about to take over the rows: what they hold of a run goes to the archive. */
  makeRoom(): void {
    if (!this.#mayHold) return;
    const { store, archive, stream } = this.#parts;
    this.#mayHold = false;
    for (const { runId, streamId, firstSequence } of store.inStream()) {
      const chunks = streamId === null ? [] : stream.counted(streamId);
      if (chunks.length > 0) archive.add(runId, { first: firstSequence, chunks });
      store.archived(runId);
    }
  }

  /** A stream of the run begins. Returns the place of its first chunk. */
  begin(run: ChildRun): number {
    this.#mayHold = true;
    const known = this.#recent.get(run.runId);
    if (known) return known.next;
    const last = this.#segments(run).at(-1);
    const next = last ? last.first + last.chunks.length + LIMITS.streamFlushChunks : 0;
    this.#recent.set(run.runId, { next, ready: next, bodies: [], chars: 0 });
    return next;
  }

  /** Takes in a chunk that was sent. One that is too large to be stored has no place: those who come later cannot get it. */
  push(runId: string, chunk: UIMessageChunk, body: string): void {
    const recent = this.#recent.get(runId);
    if (!recent || !isStorable(body)) return;
    recent.next += 1;
    if (!isOpening(chunk)) recent.ready = recent.next;
    recent.bodies.push(body);
    recent.chars += body.length;
    while (recent.chars > CHILD_RUN_LIMITS.recentChars && recent.bodies.length > 1)
      recent.chars -= recent.bodies.shift()?.length ?? 0;
  }

  /** The next chunks after a place, in order; at most about `tailPageChars`, but at least one if there is one. */
  page(runId: string, after: number): AgentToolStoredChunk[] {
    const page: AgentToolStoredChunk[] = [];
    const ready = this.#recent.get(runId)?.ready ?? Infinity;
    let chars = 0;
    for (const chunk of this.#from(runId, after)) {
      if (chunk.sequence >= ready) break;
      page.push(chunk);
      chars += chunk.body.length;
      if (chars >= CHILD_RUN_LIMITS.tailPageChars) break;
    }
    return page;
  }

  /** Every chunk after a place. */
  all(runId: string, after: number): AgentToolStoredChunk[] {
    const run = this.#parts.store.get(runId);
    return run ? [...stored(this.#segments(run), after)] : [];
  }

  /** The run is over: its chunks are read from storage from now on. */
  forget(runId: string): void {
    this.#recent.delete(runId);
  }

  /** The conversation was cleared. */
  clear(): void {
    this.#parts.archive.clear();
  }

  #from(runId: string, after: number): Iterable<AgentToolStoredChunk> {
    const recent = this.#recent.get(runId);
    const first = recent ? recent.next - recent.bodies.length : Infinity;
    if (!recent || after + 1 < first) return this.all(runId, after);
    return recent.bodies
      .slice(Math.max(after + 1 - first, 0))
      .map((body, index) => ({ sequence: Math.max(after + 1, first) + index, body }));
  }

  #segments(run: ChildRun): Segment[] {
    const { archive, stream } = this.#parts;
    const moved = archive.segments(run.runId);
    if (run.streamId === null || run.isArchived) return moved;
    return [...moved, { first: run.firstSequence, chunks: stream.counted(run.streamId) }];
  }
}

function* stored(segments: readonly Segment[], after: number): Iterable<AgentToolStoredChunk> {
  for (const { first, chunks } of segments) {
    const skipped = Math.max(after + 1 - first, 0);
    for (const [index, chunk] of chunks.slice(skipped).entries())
      yield { sequence: first + skipped + index, body: bodyOf(chunk) };
  }
}

function bodyOf(chunk: UIMessageChunk): string {
  return JSON.stringify(chunk);
}
