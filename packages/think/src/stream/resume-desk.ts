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
import { answerAcknowledgement, answerRequest, type ResumeClaim } from "./resume-decisions";
import type { ResumableStream } from "./resumable-stream";
import type { StreamRecord } from "./stream-store";

export interface ResumeHost {
  /** Sends to one connection; false when it is gone. */
  send(connectionId: string, frame: string): boolean;
  /** The stored message of an ended stream. */
  message(id: string): UIMessage | undefined;
  /** Turns an orphaned stream into a stored message and marks it ended. */
  settleOrphan(): void;
  /** Whether recovery is about to carry the last turn on. */
  isRecovering(): boolean;
  /** What a continuation has to say to a connection that asks, given the stream that could be offered now. */
  claim(connectionId: string, activeRequestId: string | null): ResumeClaim;
}

export class ResumeDesk {
  readonly #stream: ResumableStream;
  readonly #host: ResumeHost;
  /** Connections that must not get live chunks now (I1). Read for every chunk, changed rarely: replaced, never modified. */
  #excluded: readonly string[] = [];
  /** Connections that were offered the running stream in place of the message list: they may lack the question. */
  readonly #unlisted = new Set<string>();
  /** Connections that are there, as far as one knows: a lost network is not noticed at once. Clients come back with the same id. */
  readonly #present = new Set<string>();
  /** Connections that went away during the last stream. */
  readonly #lost = new Set<string>();

  constructor(stream: ResumableStream, host: ResumeHost) {
    this.#stream = stream;
    this.#host = host;
  }

  /** Connections that must not get live chunks now (I1). */
  get excluded(): readonly string[] {
    return this.#excluded;
  }

  /** A connection arrived. Returns whether it was offered a running stream (and must not get a message list). */
  greet(connectionId: string): boolean {
    const active = this.#stream.active;
    const isBack = this.#present.has(connectionId) || this.#lost.delete(connectionId);
    this.#present.add(connectionId);
    if (active === null) {
      if (isBack) this.#tellEnd(connectionId);
      return false;
    }
    this.#offer(connectionId, { requestId: active.requestId, exclude: true });
    this.#unlisted.add(connectionId);
    return true;
  }

  /**
   * A tab that watched the last stream and lost its connection must learn that it is over, before it gets the list; a tab that did
   * not watch ignores a replayed end.
   */
  #tellEnd(connectionId: string): void {
    const { record } = this.#stream;
    if (record) this.#end(connectionId, record, this.#endOf(record));
  }

  /** A connection asks whether there is anything to resume. It gets an answer, or a promise of one. */
  request(connectionId: string, probeId: string | undefined): void {
    const claim = this.#host.claim(connectionId, this.#stream.active?.requestId ?? null);
    const answer = answerRequest(this.#stream.record, claim);
    const probe = probeId === undefined ? {} : { probeId };
    switch (answer.kind) {
      case "offer":
        return this.#offer(connectionId, answer, probe);
      case "hold":
        return void this.#host.send(
          connectionId,
          encodeFrame({ type: FRAME.streamPending, id: answer.requestId, ...probe })
        );
      case "none":
        return void this.#host.send(
          connectionId,
          encodeFrame({ type: FRAME.resumeNone, reason: answer.reason, ...probe })
        );
    }
  }

  /** Offers the stream that has just started to a connection that waited for it. */
  invite(connectionId: string): void {
    const active = this.#stream.active;
    if (active) this.#offer(connectionId, { requestId: active.requestId, exclude: true });
    else this.decline(connectionId);
  }

  /** Tells a connection that waited that nothing comes. */
  decline(connectionId: string): void {
    this.#host.send(connectionId, encodeFrame({ type: FRAME.resumeNone, reason: "idle" }));
  }

  /** A connection accepts an offer. */
  acknowledge(connectionId: string, requestId: string): void {
    const record = this.#stream.record;
    const acceptance = answerAcknowledgement(record, requestId);
    if (acceptance === "ignore") return;
    this.#include(connectionId);
    if (record && acceptance === "replay") this.#replay(connectionId, record);
    else this.#end(connectionId, { requestId, continuation: false }, { outcome: "completed" });
  }

  leave(connectionId: string): void {
    this.#include(connectionId);
    this.#unlisted.delete(connectionId);
    this.#present.delete(connectionId);
    if (this.#stream.active) this.#lost.add(connectionId);
  }

  /** The stream ended: those who never acknowledged still get the terminal frame. Returns them: they missed the chunks. */
  release(): readonly string[] {
    const released = [...new Set([...this.#excluded, ...this.#unlisted])];
    this.#excluded = [];
    this.#unlisted.clear();
    return released;
  }

  /** Another stream takes the place of this one: whoever was offered it and has not accepted gets its end now, or would wait for ever. */
  dismiss(): void {
    const record = this.#stream.record;
    const released = this.#excluded;
    this.#excluded = [];
    if (record) for (const connectionId of released) this.#end(connectionId, record, this.#endOf(record));
    this.#lost.clear();
  }

  #offer(
    connectionId: string,
    { requestId, exclude }: { requestId: string; exclude: boolean },
    probe: { probeId?: string } = {}
  ): void {
    const isSent = this.#host.send(
      connectionId,
      encodeFrame({ type: FRAME.resuming, id: requestId, ...probe })
    );
    if (isSent && exclude && !this.#excluded.includes(connectionId))
      this.#excluded = [...this.#excluded, connectionId];
  }

  #include(connectionId: string): void {
    if (this.#excluded.includes(connectionId))
      this.#excluded = this.#excluded.filter((id) => id !== connectionId);
  }

  #replay(connectionId: string, record: StreamRecord): void {
    if (!this.#sendChunks(connectionId, record, this.#chunksOf(record))) return;
    if (this.#stream.isLive) {
      this.#host.send(connectionId, createResponseEncoder(record).replayComplete());
      return;
    }
    this.#end(connectionId, record, this.#endOf(record));
    if (record.status === "streaming") this.#host.settleOrphan();
  }

  #chunksOf(record: StreamRecord): readonly UIMessageChunk[] {
    if (record.status === "streaming") return this.#stream.chunks();
    const message = this.#host.message(record.messageId);
    return message ? messageToChunks(message) : [];
  }

  #sendChunks(connectionId: string, record: StreamRecord, chunks: readonly UIMessageChunk[]): boolean {
    const encoder = createResponseEncoder(record);
    return chunks.every((chunk, seq) =>
      this.#host.send(connectionId, encoder.chunk(JSON.stringify(chunk), seq, true))
    );
  }

  #end(
    connectionId: string,
    stream: { readonly requestId: string; readonly continuation: boolean },
    end: ResponseEnd
  ): void {
    this.#host.send(connectionId, createResponseEncoder(stream).end(end, true));
  }

  #endOf(record: StreamRecord): ResponseEnd {
    if (record.status === "error") return { outcome: "error", error: record.error ?? "" };
    if (!record.aborted) return { outcome: "completed" };
    return { outcome: this.#host.isRecovering() ? "recovering" : "aborted" };
  }
}
