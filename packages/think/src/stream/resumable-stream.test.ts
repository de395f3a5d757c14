import type { UIMessageChunk } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../shared/limits";
import { fakeClock } from "../testing/fake-clock";
import { ResumableStream } from "./resumable-stream";
import type { StreamRecord, StreamStore } from "./stream-store";

let time = 0;
let rows: { streamId: string; index: number; body: string }[] = [];
let saved: StreamRecord | null = null;

const store: StreamStore = {
  load: () => saved,
  save: (record) => {
    saved = record;
  },
  writeRow: (streamId, index, body) => void rows.push({ streamId, index, body }),
  chunks: (streamId) =>
    rows
      .filter((row) => row.streamId === streamId)
      .flatMap((row) => JSON.parse(row.body) as UIMessageChunk[]),
  countRows: (streamId) => rows.filter((row) => row.streamId === streamId).length,
  clear: () => {
    rows = [];
    saved = null;
  }
};

let stream: ResumableStream;

function send(...chunks: object[]): number {
  for (const chunk of chunks) stream.append(chunk as UIMessageChunk, JSON.stringify(chunk));
  return rows.length;
}

const delta = (text: string) => ({ type: "text-delta", id: "t", delta: text });

beforeEach(() => {
  time = 0;
  rows = [];
  saved = null;
  stream = new ResumableStream({ store, now: () => time });
  stream.start({ streamId: "s", requestId: "r", messageId: "m", continuation: false });
});

describe("§2.4 what is streamed reaches storage", () => {
  it("within a second, also when the model falls silent, and no timer outlives the stream", async () => {
    const clock = fakeClock();
    stream = new ResumableStream({
      store,
      now: () => clock.now(),
      setTimer: (run, ms) => clock.setTimer(run, ms)
    });
    stream.start({ streamId: "s", requestId: "r", messageId: "m", continuation: false });
    expect(send(delta("first"))).toBe(1);
    expect(send(delta(" and"), delta(" last"))).toBe(1);
    await clock.advance(LIMITS.streamFlushMs);
    expect(rows).toHaveLength(2);
    expect(rows[1]?.body).toContain(" and last");
    await clock.advance(10 * LIMITS.streamFlushMs);
    expect(rows).toHaveLength(2);
    send(delta(" more"), delta(" and more"));
    const written = rows.length;
    stream.finish({ status: "completed" });
    await clock.advance(LIMITS.streamFlushMs);
    expect(rows).toHaveLength(written);
  });

  it("at the first content, not at the marks that open it", () => {
    expect(send({ type: "start" }, { type: "start-step" }, { type: "text-start", id: "t" })).toBe(0);
    expect(send(delta("a"))).toBe(1);
  });

  it("not with each delta, but after a second at the latest (trap 39)", () => {
    expect(send(delta("a"), delta("b"), delta("c"))).toBe(1);
    time += LIMITS.streamFlushMs;
    expect(send(delta("d"))).toBe(2);
    expect(stream.chunks()).toEqual([delta("abcd")]);
  });

  it("after so many characters, whatever the time", () => {
    send(delta("a"));
    expect(send(delta("x".repeat(LIMITS.streamFlushChars)))).toBe(2);
  });

  it.each([
    "tool-input-available",
    "tool-output-available",
    "tool-output-error",
    "tool-output-denied",
    "tool-approval-request"
  ])("at once for %s, with the text before it (trap 39)", (type) => {
    send(delta("a"), delta("b"));
    expect(send({ type, toolCallId: "c" })).toBe(2);
    expect(JSON.parse(rows[1]?.body ?? "")).toEqual([delta("b"), { type, toolCallId: "c" }]);
  });

  it("not for a call that may be made again, but at once for its outcome", () => {
    stream.repeat(new Set(["read"]));
    send(delta("a"), { type: "tool-input-available", toolCallId: "c", toolName: "read" });
    expect(rows).toHaveLength(1);
    send({ type: "tool-input-available", toolCallId: "d", toolName: "pay" });
    expect(rows).toHaveLength(2);
    send({ type: "tool-output-available", toolCallId: "c" });
    expect(rows).toHaveLength(3);
  });

  it("except a chunk that no row can hold, with a warning (§2.3)", () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    send(delta("a"), { type: "data-huge", data: "x".repeat(LIMITS.streamChunkBytes) });
    time += LIMITS.streamFlushMs;
    send(delta("b"));
    expect(stream.chunks()).toEqual([delta("ab")]);
    expect(warned).toHaveBeenCalledOnce();
    warned.mockRestore();
  });
});

describe("§2.2 the record", () => {
  it("takes over the rows of the stream before it, and reads none of its leftovers", () => {
    send(delta("old"), { type: "tool-output-available", toolCallId: "c" });
    stream.finish({ status: "completed" });
    stream.start({ streamId: "s2", requestId: "r2", messageId: "m2", continuation: false });
    send(delta("new"));
    expect(rows.map((row) => row.index)).toEqual([0, 1, 0]);
    expect(stream.chunks()).toEqual([delta("new")]);
  });

  it("of another isolate that still says streaming is an orphan, whatever its age (§2.5)", () => {
    send(delta("a"));
    const next = new ResumableStream({ store, now: () => time + 86_400_000 });
    expect(next.isLive).toBe(false);
    expect(next.active?.requestId).toBe("r");
    expect(next.chunks()).toEqual([delta("a")]);
  });

  it("keeps the error until the next request is accepted", () => {
    stream.finish({ status: "error", error: "boom" });
    expect(stream.record).toMatchObject({ status: "error", error: "boom" });
    stream.forgetFailure();
    expect(stream.record).toMatchObject({ status: "completed", error: null });
  });

  it("is gone after a clear, with what was still in memory", () => {
    send(delta("a"), delta("b"));
    stream.clear();
    expect(stream.record).toBeNull();
    expect(stream.chunks()).toEqual([]);
  });
});

describe("durability §3.4 the counter of durable work", () => {
  it("counts stored rows, goes on across streams, and a rebuilt or finished stream leaves it where it was (trap 4)", () => {
    expect(stream.progress).toBe(0);
    send({ type: "start" }, delta("a"));
    expect(stream.progress).toBe(1);
    const woken = new ResumableStream({ store, now: () => time });
    expect(woken.progress).toBe(1);
    woken.chunks();
    woken.finish({ status: "completed" });
    expect(woken.progress).toBe(1);
    woken.start({ streamId: "s2", requestId: "r2", messageId: "m2", continuation: false });
    expect(woken.progress).toBe(1);
    woken.addProgress();
    expect(woken.progress).toBe(2);
  });

  it("begins where the published package's stood", () => {
    saved = null;
    expect(new ResumableStream({ store, now: () => time, initialProgress: () => 57 }).progress).toBe(57);
  });

  it("a stream that starts over keeps its positions and forgets its rows", () => {
    send({ type: "start" }, delta("cut"));
    stream.restart("again");
    expect(stream.chunks()).toEqual([]);
    expect(stream.append(delta("whole") as UIMessageChunk, JSON.stringify(delta("whole")))).toBe(2);
    expect(stream.chunks()).toEqual([delta("whole")]);
  });
});
