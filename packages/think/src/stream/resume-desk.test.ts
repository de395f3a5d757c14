/**
 * The handshake in a small world: two connections, a stream that starts, speaks, ends, fails or loses its isolate. Every order of events is tried
 * until no new situation appears; each connection's view is compared with what was really streamed.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import { expect as expectNow, it } from "vitest";
import { createResponseEncoder } from "../protocol/encode";
import { MessageAccumulator } from "./accumulator";
import { ResumableStream } from "./resumable-stream";
import { ResumeDesk } from "./resume-desk";
import type { StreamRecord, StreamStore } from "./stream-store";

/** Only the last event of a path is checked: the ones before it were the last of shorter paths. */
let isChecking = true;
const expect = ((value: unknown, message?: string) =>
  isChecking ? expectNow(value, message) : UNCHECKED) as unknown as typeof expectNow;
const UNCHECKED = new Proxy({}, { get: () => () => undefined });

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
    clear: () => {
      record = null;
      rows.clear();
    }
  };
}

class World {
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
    expect(isOffered).toBe(this.#stream.active !== null);
    expect(client.inbox.map(({ type }) => type)).toEqual(isOffered ? ["cf_agent_stream_resuming"] : []);
    if (isOffered) client.offered = this.#stream.active?.requestId;
    return true;
  }

  request(index: number): boolean {
    const client = this.#client(index);
    if (!client.isOpen) return false;
    this.#deskCall(() => this.#desk.request(String(index), "probe"));
    expect(client.inbox, "exactly one answer").toHaveLength(1);
    expect(client.inbox[0]).toMatchObject({ probeId: "probe" });
    const active = this.#stream.active;
    if (active) client.offered = active.requestId;
    const expected = active
      ? "resuming"
      : this.isPending
        ? "pending"
        : this.record?.status === "error"
          ? "resuming"
          : "resume_none";
    expect(client.inbox[0]?.type).toBe(`cf_agent_stream_${expected}`);
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
      expect(client.inbox, "an old acknowledgement is ignored").toEqual([]);
      return true;
    }
    client.offered = undefined;
    const chunks = client.inbox.filter((frame) => frame.body !== "" && !frame.error);
    const last = client.inbox.at(-1);
    expect(client.inbox.every((frame) => frame.replay)).toBe(true);
    expect(client.inbox.filter((frame) => frame.done === true || frame.replayComplete)).toEqual([last]);
    expect(last?.replayComplete ?? false, "a running stream goes on, an ended one ends").toBe(isLive);
    expect(last?.error ?? false).toBe(record?.requestId === requestId && record.status === "error");
    if (record?.requestId !== requestId) expect(chunks).toEqual([]);
    else expect(textOf(chunks), `${JSON.stringify(told)} gets everything`).toBe(this.text);
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
      const end = expectNow.objectContaining({ id: old, done: true });
      expect(client.inbox, "an offer that is void is ended").toEqual(
        client.offered === undefined ? [] : [end]
      );
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
      expect(this.#client(index).inbox).toEqual([
        expectNow.objectContaining({ id: `request-${this.streams}` })
      ]);
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
        expect(client.inbox, "nothing live between offer and acceptance").toEqual([]);
      else if (client.isOpen) {
        expect(client.inbox).toHaveLength(1);
        client.text += textOf(client.inbox);
        if (client.isInStep)
          expect(client.text, "one who has seen everything misses nothing").toBe(this.text);
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
      expect(client.inbox, "everyone gets the end once").toEqual([
        expectNow.objectContaining({ done: true })
      ]);
      expect(missed.includes(String(index)), "who missed chunks is known").toBe(client.offered !== undefined);
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

const EVENTS: Readonly<Record<string, (world: World) => boolean>> = {
  "connect 0": (world) => world.connect(0),
  "connect 1": (world) => world.connect(1),
  "request 0": (world) => world.request(0),
  "request 1": (world) => world.request(1),
  "acknowledge 0": (world) => world.acknowledge(0, world.record?.requestId),
  "acknowledge 1": (world) => world.acknowledge(1, world.record?.requestId),
  "acknowledge an old offer 0": (world) => world.streams > 1 && world.acknowledge(0, "request-1"),
  "acknowledge an old offer 1": (world) => world.streams > 1 && world.acknowledge(1, "request-1"),
  "leave 0": (world) => world.leave(0),
  "leave 1": (world) => world.leave(1),
  start: (world) => world.start(),
  chunk: (world) => world.chunk(),
  "end well": (world) => world.end("completed"),
  "end badly": (world) => world.end("error"),
  evict: (world) => world.evict(),
  "want a continuation": (world) => world.want()
};

function worldAfter(path: readonly string[]): World | undefined {
  const world = new World();
  const isPossible = path.every((name, position) => {
    isChecking = position === path.length - 1;
    return EVENTS[name]?.(world);
  });
  return isPossible ? world : undefined;
}

it("keeps every connection's view right in every order of offers, acceptances, chunks, ends and evictions (§2.6, §2.8, traps 1, 2, 4, 6)", () => {
  const seen = new Set<string>();
  let frontier: readonly (readonly string[])[] = [[]];
  while (frontier.length > 0) {
    const next: (readonly string[])[] = [];
    for (const path of frontier) {
      for (const name of Object.keys(EVENTS)) {
        const steps = [...path, name];
        try {
          const key = worldAfter(steps)?.key();
          if (key === undefined || seen.has(key)) continue;
          seen.add(key);
          next.push(steps);
        } catch (error) {
          throw new Error(`After ${steps.join(", ")}: ${String(error)}`, { cause: error });
        }
      }
    }
    frontier = next;
  }
  expectNow(seen.size).toBeGreaterThan(500);
}, 60_000);
