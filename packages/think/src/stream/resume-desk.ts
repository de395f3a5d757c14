/**
 * The resume handshake: which connection is offered which stream, and what it is sent when it accepts.
 *
 * I1. Between the offer and its acknowledgement a connection gets no live chunks: it would meet deltas of parts it has never
 *     seen. What it misses is in the replay, and replay is synchronous, so nothing slips in between.
 * I2. Live and joining clients see the same end: completed, aborted, or the same error text after the same partial content.
 * I3. A connection that disappears during replay gets no terminal frame; its next visit repeats everything.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import { createResponseEncoder, encodeFrame, type ResponseEnd } from "../protocol/encode";
import { FRAME } from "../protocol/frames";
import { messageToChunks } from "./message-chunks";
import type { ResumableStream } from "./resumable-stream";
import type { StreamRecord } from "./stream-store";

export interface ResumeHost {
  /** Sends to one connection; false when it is gone. */
  send(connectionId: string, frame: string): boolean;
  /** The stored message of an ended stream. */
  message(id: string): UIMessage | undefined;
  /** Turns an orphaned stream into a stored message and marks it ended. */
  settleOrphan(): void;
}

export class ResumeDesk {
  readonly #stream: ResumableStream;
  readonly #host: ResumeHost;
  readonly #waiting = new Set<string>();
  /** `excluded` is read for every chunk, the set changes rarely. */
  #excluded: readonly string[] = [];

  constructor(stream: ResumableStream, host: ResumeHost) {
    this.#stream = stream;
    this.#host = host;
  }

  /** Connections that must not get live chunks now (I1). */
  get excluded(): readonly string[] {
    if (this.#excluded.length !== this.#waiting.size) this.#excluded = [...this.#waiting];
    return this.#excluded;
  }

  /** A connection arrived. Returns whether it was offered a running stream (and must not get a message list). */
  greet(connectionId: string): boolean {
    const active = this.#stream.active;
    if (!active) return false;
    this.#offer(connectionId, active.requestId);
    this.#waiting.add(connectionId);
    return true;
  }

  /** A connection asks whether there is anything to resume. It always gets an answer. */
  request(connectionId: string, probeId: string | undefined): void {
    const record = this.#stream.record;
    if (record && record.status !== "completed") {
      this.#offer(connectionId, record.requestId, probeId);
      if (record.status === "streaming") this.#waiting.add(connectionId);
      return;
    }
    const probe = probeId === undefined ? {} : { probeId };
    this.#host.send(connectionId, encodeFrame({ type: FRAME.resumeNone, reason: "idle", ...probe }));
  }

  /** A connection accepts an offer. */
  acknowledge(connectionId: string, requestId: string): void {
    const record = this.#stream.record;
    const matches = record?.requestId === requestId;
    // An answer to an older offer must not open the gate of I1.
    if (record?.status === "streaming" && !matches) return;
    this.#waiting.delete(connectionId);
    if (record && matches) this.#replay(connectionId, record);
    else this.#end(connectionId, { requestId, continuation: false }, { outcome: "completed" });
  }

  leave(connectionId: string): void {
    this.#waiting.delete(connectionId);
  }

  /** The stream ended: those who never acknowledged still get the terminal frame. Returns them: they missed the chunks. */
  release(): readonly string[] {
    const released = this.excluded;
    this.#waiting.clear();
    return released;
  }

  #offer(connectionId: string, id: string, probeId?: string): void {
    const probe = probeId === undefined ? {} : { probeId };
    this.#host.send(connectionId, encodeFrame({ type: FRAME.resuming, id, ...probe }));
  }

  #replay(connectionId: string, record: StreamRecord): void {
    if (!this.#sendChunks(connectionId, record, this.#chunksOf(record))) return;
    if (this.#stream.isLive) {
      this.#host.send(connectionId, createResponseEncoder(record).replayComplete());
      return;
    }
    this.#end(connectionId, record, endOf(record));
    if (record.status === "streaming") this.#host.settleOrphan();
  }

  #chunksOf(record: StreamRecord): readonly UIMessageChunk[] {
    if (record.status === "streaming") return this.#stream.chunks();
    const message = this.#host.message(record.messageId);
    return message ? messageToChunks(message) : [];
  }

  #sendChunks(connectionId: string, record: StreamRecord, chunks: readonly UIMessageChunk[]): boolean {
    const encoder = createResponseEncoder(record);
    return chunks.every((chunk, seq) => this.#host.send(connectionId, encoder.chunk(JSON.stringify(chunk), seq, true)));
  }

  #end(connectionId: string, stream: { readonly requestId: string; readonly continuation: boolean }, end: ResponseEnd): void {
    this.#host.send(connectionId, createResponseEncoder(stream).end(end, true));
  }
}

function endOf(record: StreamRecord): ResponseEnd {
  return record.status === "error" ? { outcome: "error", error: record.error ?? "" } : { outcome: "completed" };
}
