/**
 * The stream of the agent: the running turn's chunks, durable and replayable, or the record of how the last turn ended.
 *
 * I1. One stream at a time; it is `live` while its turn runs in this isolate. A stored stream that still says `streaming` without a
 *     turn is an orphan of an earlier isolate.
 * I2. At most `streamFlushMs` of streamed text is only in memory; tool calls and tool outcomes never are.
 * I3. Chunk rows serve live resume and orphans. A stream that ended is replayed from the stored message.
 * I4. A stream belongs to a session: while another one is active it is not seen, and how it ended is told again when its own is back.
 */
import type { UIMessageChunk } from "ai";
import type { Clock, TimerHandle } from "../shared/clock";
import { LIMITS } from "../shared/limits";
import { ChunkPack, mergeChunks } from "./chunk-packing";
import type { StreamRecord, StreamStore } from "./stream-store";

export interface StreamStart {
  readonly streamId: string;
  readonly requestId: string;
  readonly messageId: string;
  readonly continuation: boolean;
  /** The message that the answer goes below, when that is not the leaf. */
  readonly parentId?: string | undefined;
  /** What is needed to run the turn again, as JSON. Default: it is not recovered. */
  readonly turn?: string | undefined;
  /** The user messages that the request ended with. */
  readonly messageIds?: readonly string[] | undefined;
  /** Whether somebody counts its chunks, so that stored ones must be those that were sent. Default: only in a continuation. */
  readonly counted?: boolean | undefined;
}

export type StreamEnd =
  | { readonly status: "completed"; readonly aborted?: boolean }
  | { readonly status: "error"; readonly error: string };

/** Chunks whose loss would repeat or lose work: written at once, with everything before them. */
const DURABLE: ReadonlySet<string> = new Set([
  "tool-input-available",
  "tool-input-error",
  "tool-approval-request",
  "tool-output-available",
  "tool-output-error",
  "tool-output-denied"
]);

/** Chunks that only open something. Alone they are not worth a write: the first text comes with them. */
const OPENING: ReadonlySet<string> = new Set([
  "start",
  "start-step",
  "text-start",
  "reasoning-start",
  "tool-input-start"
]);

interface LiveStream {
  readonly pack: ChunkPack;
  rows: number;
  /** Rows that hold more than openings: those that are progress. A provider that opens a stream and falls silent has done nothing. */
  work: number;
  /** Whether the pack holds more than openings. */
  hasContent: boolean;
  seq: number;
  flushedAt: number;
  /** Writes what is pending when the model falls silent (I2). */
  timer?: TimerHandle | undefined;
}

const encoder = new TextEncoder();

export class ResumableStream {
  readonly #store: StreamStore;
  readonly #now: () => number;
  #repeatable: ReadonlySet<string> = new Set();
  readonly #initialProgress: () => number;
  readonly #setTimer: Clock["setTimer"] | undefined;
  readonly #sessionId: () => string;
  /** What is stored, of whatever session. */
  #record: StreamRecord | null | undefined;
  #live: LiveStream | undefined;

  /** `initialProgress`: where the counter of durable work begins. Default: 0. `sessionId`: the active one. Default: the primary one. */
  constructor(options: {
    readonly store: StreamStore;
    readonly now: () => number;
    /** Default: what a silent model said last is written with its next word. */
    readonly setTimer?: Clock["setTimer"];
    readonly initialProgress?: () => number;
    readonly sessionId?: () => string;
  }) {
    this.#store = options.store;
    this.#now = options.now;
    this.#setTimer = options.setTimer;
    this.#initialProgress = options.initialProgress ?? (() => 0);
    this.#sessionId = options.sessionId ?? (() => "");
  }

  /** The running or last stream of the active session. */
  get record(): StreamRecord | null {
    const stored = this.#stored;
    return stored && (stored.sessionId ?? "") === this.#sessionId() ? stored : null;
  }

  /** The session whose turn was running when its isolate died; undefined when there is none. */
  get interruptedSession(): string | undefined {
    const stored = this.#stored;
    return stored?.status === "streaming" && !this.#live ? (stored.sessionId ?? "") : undefined;
  }

  get #stored(): StreamRecord | null {
    if (this.#record === undefined) this.#record = this.#store.load();
    return this.#record;
  }

  get isLive(): boolean {
    return this.#live !== undefined;
  }

  /** The stream that clients may join: live, or an orphan that has not been settled. */
  get active(): StreamRecord | null {
    return this.record?.status === "streaming" ? this.record : null;
  }

  /** Durable writes of streamed work so far. Counted by rows, so it costs nothing; replays and repairs do not count. */
  get progress(): number {
    const record = this.#stored;
    if (!record) return this.#initialProgress();
    if (record.status !== "streaming") return record.progress;
    return record.progress + (this.#live?.work ?? this.#store.countRows(record.id));
  }

  start({ streamId, counted, ...start }: StreamStart): void {
    const facts = { progress: this.progress, createdAt: this.#now() };
    this.#save({ id: streamId, ...start, ...facts, status: "streaming", error: null });
    this.#live = {
      pack: new ChunkPack({ counted: counted ?? start.continuation }),
      ...{ rows: 0, work: 0, hasContent: false, seq: 0, flushedAt: -Infinity }
    };
  }

  /** Drops what was streamed so far and goes on from nothing; positions go on counting, because clients compare them. */
  restart(streamId: string): void {
    const { record } = this;
    const live = this.#live;
    if (!record || !live) return;
    this.#save({ ...record, id: streamId, progress: this.progress });
    live.pack.clear();
    Object.assign(live, { rows: 0, work: 0, hasContent: false, flushedAt: -Infinity });
  }

  /** Keeps what the author wants to find again when the running turn is interrupted. */
  stash(json: string): void {
    if (this.record && this.#live) this.#save({ ...this.record, stash: json });
  }

  /** Work that is durable elsewhere, such as in a child, counts too. */
  addProgress(): void {
    if (this.record) this.#save({ ...this.record, progress: this.record.progress + 1 });
  }

  /** Takes one chunk in; returns its position in the stream. */
  append(chunk: UIMessageChunk, json: string): number {
    const live = this.#live;
    if (!live) throw new Error("append() needs a running stream; call start() first.");
    const seq = live.seq++;
    if (!isStorable(json)) {
      console.warn(
        `[Think] A ${chunk.type} chunk is larger than ${LIMITS.streamChunkBytes} bytes: clients that join the stream do not get it.`
      );
      return seq;
    }
    live.pack.add(chunk, json.length);
    live.hasContent ||= !isOpening(chunk);
    if (this.#mustFlush(chunk, live)) this.flush();
    else if (live.hasContent)
      live.timer ??= this.#setTimer?.(() => this.#flushSilent(live), LIMITS.streamFlushMs);
    return seq;
  }

  #flushSilent(live: LiveStream): void {
    live.timer = undefined;
    if (this.#live === live) this.flush();
  }

  flush(): void {
    const live = this.#live;
    live?.timer?.cancel();
    if (live) live.timer = undefined;
    if (!live || live.pack.isEmpty || !this.record) return;
    this.#store.writeRow(this.record.id, live.rows, live.pack.pack());
    live.rows += 1;
    if (live.hasContent) live.work += 1;
    live.hasContent = false;
    live.flushedAt = this.#now();
    live.pack.clear();
  }

  /** Ends the stream. What is still buffered is dropped: the caller has stored the message, under `messageId` (I3). */
  finish(end: StreamEnd, messageId?: string): void {
    const { record, progress } = this;
    this.#drop();
    if (!record) return;
    const outcome =
      end.status === "error" ? { error: end.error } : { error: null, aborted: end.aborted ?? false };
    const facts = { messageId: messageId ?? record.messageId, progress, turn: null, stash: null };
    this.#save({ ...record, ...outcome, ...facts, status: end.status });
  }

  /** Records that a request failed before it had a stream, so that a reconnecting client learns of it. */
  fail(failure: StreamStart, error: string): void {
    const { streamId, counted: _, ...start } = failure;
    const facts = { progress: this.progress, createdAt: this.#now() };
    this.#save({ id: streamId, ...start, ...facts, status: "error", error });
  }

  /** A new request was accepted: an earlier failure is history. */
  forgetFailure(): void {
    if (this.record?.status === "error") this.#save({ ...this.record, status: "completed", error: null });
  }

  /** The chunks of the active stream for a joining client, adjacent deltas merged unless clients count them. */
  chunks(): readonly UIMessageChunk[] {
    const record = this.record;
    if (!record) return [];
    const chunks = [...this.#store.chunks(record.id, this.#live?.rows), ...(this.#live?.pack.chunks() ?? [])];
    return record.continuation ? chunks : mergeChunks(chunks);
  }

  /** The chunks of one stream as they were sent, provided that it is counted and its rows have not been taken over. */
  counted(streamId: string): readonly UIMessageChunk[] {
    const isRunning = this.#live !== undefined && this.record?.id === streamId;
    const stored = this.#store.chunks(streamId, isRunning ? this.#live?.rows : undefined);
    return isRunning ? [...stored, ...(this.#live?.pack.chunks() ?? [])] : stored;
  }

  /** Forgets the stream of the active session, durably. A running turn goes on without it. */
  clear(): void {
    this.#drop();
    this.forgetSession(this.#sessionId());
  }

  /** A session is gone, and with it what it streamed. */
  forgetSession(sessionId: string): void {
    if (!this.#stored || (this.#stored.sessionId ?? "") !== sessionId) return;
    this.#store.clear();
    this.#record = null;
  }

  #drop(): void {
    this.#live?.timer?.cancel();
    this.#live = undefined;
  }

  /** Tools whose calls need not be on record before they run: after a crash the model just makes them again. */
  repeat(toolNames: ReadonlySet<string>): void {
    this.#repeatable = toolNames;
  }

  #isDurable(chunk: UIMessageChunk): boolean {
    if (chunk.type === "tool-input-available" && this.#repeatable.has(chunk.toolName)) return false;
    return DURABLE.has(chunk.type);
  }

  #mustFlush(chunk: UIMessageChunk, live: { readonly pack: ChunkPack; readonly flushedAt: number }): boolean {
    if (this.#isDurable(chunk) || live.pack.chars >= LIMITS.streamFlushChars) return true;
    if (live.pack.count >= LIMITS.streamFlushChunks) return true;
    return !isOpening(chunk) && this.#now() - live.flushedAt >= LIMITS.streamFlushMs;
  }

  #save(record: StreamRecord): void {
    const placed = { ...record, sessionId: this.#sessionId() };
    this.#store.save(placed);
    this.#record = placed;
  }
}

/** Whether a chunk only opens something: a stream that says no more has said nothing. */
export function isOpening({ type }: UIMessageChunk): boolean {
  return OPENING.has(type);
}

/** The byte length is only measured when the text could be over the limit. */
export function isStorable(json: string): boolean {
  if (json.length * 3 <= LIMITS.streamChunkBytes) return true;
  return encoder.encode(json).byteLength <= LIMITS.streamChunkBytes;
}
