/**
 * A small world for the test of the resume handshake: the real desk and stream, two connections, and what each of them has really
 * seen.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import { expect } from "vitest";
import { createResponseEncoder } from "../protocol/encode";
import { MessageAccumulator } from "./accumulator";
import { ResumableStream } from "./resumable-stream";
import { ResumeDesk } from "./resume-desk";
import type { StreamRecord, StreamStore } from "./stream-store";

const MOST_CHUNKS = 2;
const MOST_STREAMS = 2;

interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly body?: string;
  readonly done?: boolean;
  readonly error?: boolean;
  readonly replay?: boolean;
  readonly replayComplete?: boolean;
}

interface Client {
  isOpen: boolean;
  /** The active stream it was offered and has not accepted. */
  offered: string | undefined;
  /** Whether it has seen its stream from the first chunk on. */
  isInStep: boolean;
  text: string;
  inbox: Frame[];
}

function memoryStore(): StreamStore {
  let record: StreamRecord | null = null;
  const rows = new Map<number, { readonly streamId: string; readonly body: string }>();
  return {
    load: () => record,
    save: (next) => void (record = next),
    writeRow: (streamId, index, body) => void rows.set(index, { streamId, body }),
    chunks: (streamId, count = Infinity) =>
      [...rows].flatMap(([index, row]) =>
        index < count && row.streamId === streamId ? (JSON.parse(row.body) as UIMessageChunk[]) : []
      ),
    countRows: (streamId) => [...rows.values()].filter((row) => row.streamId === streamId).length,
    clear: () => {
      record = null;
      rows.clear();
    }
  };
}

/** Compares what happened with what was promised. */
export type Verify = (actual: unknown, expected: unknown, promise: string) => void;

/** Two connections, one desk, one stream. Each event says whether it was possible; its outcome is checked while `isChecking`. */
export class World {
  isChecking = false;
  readonly #verify: Verify;
  readonly clients: readonly Client[] = [newClient(), newClient()];
  readonly #store = memoryStore();
  readonly #messages = new Map<string, UIMessage>();
  #stream = this.#openStream();
  #desk = this.#openDesk();
  /** What was really streamed, and what a crash has left of it. */
  text = "";
  streams = 0;
  awaiting: number[] = [];
  isPending = false;

  constructor(verify: Verify) {
    this.#verify = verify;
  }

  get record(): StreamRecord | null {
    return this.#stream.record;
  }

  get isLive(): boolean {
    return this.#stream.isLive;
  }

  connect(index: number): boolean {
    const client = this.#client(index);
    if (client.isOpen) return false;
    Object.assign(client, newClient(), { isOpen: true });
    const isOffered = this.#deskCall(() => this.#desk.greet(String(index)));
    this.#expect(isOffered, this.#stream.active !== null);
    this.#expect(
      client.inbox.map(({ type }) => type),
      isOffered ? ["cf_agent_stream_resuming"] : []
    );
    if (isOffered) client.offered = this.#stream.active?.requestId;
    return true;
  }

  request(index: number): boolean {
    const client = this.#client(index);
    if (!client.isOpen) return false;
    this.#deskCall(() => this.#desk.request(String(index), "probe"));
    this.#expect(client.inbox.length, 1, "exactly one answer");
    this.#expect(client.inbox[0], expect.objectContaining({ probeId: "probe" }));
    const active = this.#stream.active;
    if (active) client.offered = active.requestId;
    const expected = active
      ? "resuming"
      : this.isPending
        ? "pending"
        : this.record?.status === "error"
          ? "resuming"
          : "resume_none";
    this.#expect(client.inbox[0]?.type, `cf_agent_stream_${expected}`);
    return true;
  }

  acknowledge(index: number, requestId: string | undefined): boolean {
    const client = this.#client(index);
    if (!client.isOpen || requestId === undefined) return false;
    const { record } = this;
    const [isLive, isActive] = [this.isLive, this.#stream.active !== null];
    const told = { ...client };
    this.#deskCall(() => this.#desk.acknowledge(String(index), requestId));
    if (isActive && record?.requestId !== requestId) {
      this.#expect(client.inbox, [], "an old acknowledgement is ignored");
      return true;
    }
    client.offered = undefined;
    const chunks = client.inbox.filter((frame) => frame.body !== "" && !frame.error);
    const last = client.inbox.at(-1);
    this.#expect(
      client.inbox.every((frame) => frame.replay),
      true
    );
    this.#expect(
      client.inbox.filter((frame) => frame.done === true || frame.replayComplete),
      [last]
    );
    this.#expect(last?.replayComplete ?? false, isLive, "a running stream goes on, an ended one ends");
    this.#expect(last?.error ?? false, record?.requestId === requestId && record.status === "error");
    if (record?.requestId !== requestId) this.#expect(chunks, []);
    else this.#expect(textOf(chunks), this.text, `${JSON.stringify(told)} gets everything`);
    if (isLive) Object.assign(client, { isInStep: true, text: textOf(chunks) });
    return true;
  }

  leave(index: number): boolean {
    const client = this.#client(index);
    if (!client.isOpen) return false;
    this.#desk.leave(String(index));
    this.awaiting = this.awaiting.filter((other) => other !== index);
    Object.assign(client, newClient());
    return true;
  }

  /** A turn begins; those who waited for it are invited. */
  start(): boolean {
    if (this.isLive || this.streams === MOST_STREAMS) return false;
    this.#settleOrphan();
    const old = this.record?.requestId;
    this.#deskCall(() => this.#desk.dismiss());
    for (const client of this.clients) {
      const end = expect.objectContaining({ id: old, done: true });
      this.#expect(client.inbox, client.offered === undefined ? [] : [end], "an offer that is void is ended");
    }
    this.streams += 1;
    this.text = "";
    for (const client of this.clients)
      Object.assign(client, { isInStep: client.isOpen, text: "", offered: undefined });
    const id = `stream-${this.streams}`;
    this.#stream.start({
      streamId: id,
      requestId: `request-${this.streams}`,
      messageId: id,
      continuation: this.isPending
    });
    this.#deskCall(() => {
      for (const index of this.awaiting) this.#desk.invite(String(index));
    });
    for (const index of this.awaiting) {
      this.#expect(this.#client(index).inbox, [expect.objectContaining({ id: `request-${this.streams}` })]);
      Object.assign(this.#client(index), { offered: `request-${this.streams}`, isInStep: false });
    }
    this.awaiting = [];
    this.isPending = false;
    return true;
  }

  chunk(): boolean {
    if (!this.isLive || this.text.length === MOST_CHUNKS) return false;
    const chunk: UIMessageChunk = { type: "text-delta", id: "t", delta: String(this.text.length) };
    this.text += chunk.delta;
    const seq = this.#stream.append(chunk, JSON.stringify(chunk));
    this.#broadcast(this.#encoder().chunk(JSON.stringify(chunk), seq), this.#desk.excluded);
    for (const client of this.clients) {
      if (client.offered !== undefined)
        this.#expect(client.inbox, [], "nothing live between offer and acceptance");
      else if (client.isOpen) {
        this.#expect(client.inbox.length, 1);
        client.text += textOf(client.inbox);
        if (client.isInStep)
          this.#expect(client.text, this.text, "one who has seen everything misses nothing");
      }
    }
    return true;
  }

  end(outcome: "completed" | "error"): boolean {
    if (!this.isLive) return false;
    const end = outcome === "error" ? ({ outcome, error: "boom" } as const) : ({ outcome } as const);
    const encoder = this.#encoder();
    this.#storeMessage();
    this.#stream.finish(outcome === "error" ? { status: outcome, error: "boom" } : { status: outcome });
    const missed = this.#desk.release();
    this.#broadcast(encoder.end(end), []);
    for (const [index, client] of this.clients.entries()) {
      if (!client.isOpen) continue;
      this.#expect(client.inbox, [expect.objectContaining({ done: true })], "everyone gets the end once");
      this.#expect(
        missed.includes(String(index)),
        client.offered !== undefined,
        "who missed chunks is known"
      );
      client.offered = undefined;
    }
    return true;
  }

  /** The isolate dies. Hibernating sockets stay open, and their clients know nothing of it. */
  evict(): boolean {
    if (!this.isLive) return false;
    this.#stream = this.#openStream();
    this.#desk = this.#openDesk();
    this.text = textOf(this.#stream.chunks().map((chunk) => ({ type: "", body: JSON.stringify(chunk) })));
    this.isPending = false;
    this.awaiting = [];
    for (const client of this.clients) Object.assign(client, { offered: undefined, isInStep: false });
    return true;
  }

  /** A continuation is wanted: requests are held from now on. */
  want(): boolean {
    if (this.isPending || this.streams === MOST_STREAMS) return false;
    return (this.isPending = true);
  }

  key(): string {
    const clients = this.clients.map((client, index) =>
      JSON.stringify([
        { ...client, inbox: [] },
        this.awaiting.includes(index),
        this.#desk.excluded.includes(String(index))
      ])
    );
    // The clients are alike, so it does not matter which is which.
    return JSON.stringify([
      clients.sort(),
      this.record,
      this.isLive,
      this.text,
      this.streams,
      this.isPending
    ]);
  }

  #expect(actual: unknown, expected: unknown, promise = ""): void {
    if (this.isChecking) this.#verify(actual, expected, promise);
  }

  #client(index: number): Client {
    const client = this.clients[index];
    if (!client) throw new Error("No such client.");
    return client;
  }

  #encoder() {
    return createResponseEncoder({
      requestId: this.record?.requestId ?? "",
      continuation: this.record?.continuation ?? false
    });
  }

  #deskCall<Result>(call: () => Result): Result {
    for (const client of this.clients) client.inbox = [];
    return call();
  }

  #broadcast(frame: string, without: readonly string[]): void {
    this.#deskCall(() => {
      for (const index of this.clients.keys())
        if (!without.includes(String(index))) this.#send(String(index), frame);
    });
  }

  #send(id: string, frame: string): boolean {
    const client = this.#client(Number(id));
    if (client.isOpen) client.inbox.push(JSON.parse(frame) as Frame);
    return client.isOpen;
  }

  #openStream(): ResumableStream {
    // Time stands still, so nothing but the first chunk is written by age.
    return new ResumableStream({ store: this.#store, now: () => 0 });
  }

  #openDesk(): ResumeDesk {
    return new ResumeDesk(this.#stream, {
      send: (id, frame) => this.#send(id, frame),
      message: (id) => this.#messages.get(id),
      isRecovering: () => false,
      settleOrphan: () => this.#settleOrphan(),
      claim: (id, active) => {
        if (active !== null || !this.isPending) return { kind: "open" };
        if (!this.awaiting.includes(Number(id))) this.awaiting = [...this.awaiting, Number(id)];
        return { kind: "hold", requestId: "next" };
      }
    });
  }

  #settleOrphan(): void {
    if (this.isLive || !this.#stream.active) return;
    this.#storeMessage();
    this.#stream.finish({ status: "completed" });
  }

  #storeMessage(): void {
    const accumulator = new MessageAccumulator(this.record?.messageId ?? "");
    for (const chunk of this.#stream.chunks()) accumulator.apply(chunk);
    if (!accumulator.isEmpty) this.#messages.set(accumulator.id, accumulator.snapshot());
  }
}

function newClient(): Client {
  return { isOpen: false, offered: undefined, isInStep: false, text: "", inbox: [] };
}

function textOf(frames: readonly Frame[]): string {
  const chunks = frames
    .filter((frame) => frame.body)
    .map((frame) => JSON.parse(frame.body ?? "") as UIMessageChunk);
  return chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");
}
