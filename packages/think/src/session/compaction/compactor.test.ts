import type { UIMessage } from "ai";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SessionErrorFrame, SessionStatusFrame } from "../../protocol/frames";
import { COMPACTION_LIMITS } from "../../shared/limits";
import { fakeClock } from "../../testing/fake-clock";
import type { CompactFunction, CompactionReport, TokenCounter } from "./compact-types";
import type { CompactionStore } from "./compaction-store";
import { Compactor, type CompactorOptions } from "./compactor";
import { dialogue, ids, say } from "./messages.test-support";
import { applyOverlays, type StoredCompaction } from "./overlay";

interface Settings {
  fn?: CompactFunction | undefined;
  threshold?: number;
  counter?: TokenCounter;
  onError?: (error: unknown) => void;
  refreshPrompt?: () => Promise<void>;
}

/** A session in memory around a compactor. */
function session(settings: Settings = {}, overrides: Partial<CompactorOptions> = {}) {
  const path: UIMessage[] = dialogue(8, 400);
  let rows: StoredCompaction[] = [];
  const frames: (SessionStatusFrame | SessionErrorFrame)[] = [];
  const reports: CompactionReport[] = [];
  const clock = fakeClock();
  const store: CompactionStore = {
    list: () => [...rows],
    add: (_session, row) => void rows.push(row),
    remove(_session, id) {
      const before = rows.length;
      rows = rows.filter((row) => row.id !== id);
      return rows.length < before;
    },
    clear: () => void (rows = []),
    moveEnds: () => undefined
  };
  const changed = vi.fn<() => void>();
  const refreshPrompt = vi.fn<() => Promise<void>>(settings.refreshPrompt ?? (() => Promise.resolve()));
  const systemPrompt = vi.fn<() => Promise<string>>(() => Promise.resolve("p".repeat(400)));
  const compactor = new Compactor({
    ...{ sessionId: "", store, clock, ids: clock.ids, changed, refreshPrompt, systemPrompt },
    history: () => applyOverlays(path, rows),
    compactFunction: () => settings.fn,
    threshold: () => settings.threshold,
    tokenCounter: () => settings.counter,
    contextBlocks: () => Promise.resolve([{ label: "memory", content: "c", tokens: 1 }]),
    status: (frame) => void frames.push(frame),
    report: (report) => void reports.push(report),
    onError: () => settings.onError,
    ...overrides
  });
  const seen = () => ids(applyOverlays(path, rows));
  const phases = () => frames.map((frame) => ("phase" in frame ? frame.phase : "error"));
  return { compactor, path, frames, reports, store, clock, changed, refreshPrompt, settings, seen, phases };
}

const replace =
  (fromMessageId: string, toMessageId: string, summary = "short"): CompactFunction =>
  () => ({ fromMessageId, toMessageId, summary });

beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
afterEach(() => void vi.restoreAllMocks());

describe("§8.10 compact()", () => {
  it("rejects with the remedy when no function is registered", async () => {
    const { compactor, frames } = session();
    await expect(compactor.compact()).rejects.toMatchObject({
      code: "compaction-missing",
      message: expect.stringContaining("onCompaction")
    });
    expect(frames).toEqual([]);
  });

  it("stores the overlay, refreshes the prompt, tells clients and reports", async () => {
    const { compactor, frames, reports, changed, refreshPrompt, seen, store } = session({
      fn: replace("m2", "m5"),
      threshold: 5_000
    });
    expect(await compactor.compact()).toEqual({ fromMessageId: "m2", toMessageId: "m5", summary: "short" });
    const [row] = store.list("");
    expect(seen()).toEqual(["m0", "m1", `compaction_${row!.id}`, "m6", "m7"]);
    expect([changed.mock.calls.length, refreshPrompt.mock.calls.length]).toEqual([1, 1]);
    const tokensBefore = 8 * 104 + 100;
    const tokensAfter = 4 * 104 + 100 + 6;
    const common = { type: "cf_agent_session", tokenThreshold: 5_000 };
    expect(frames).toEqual([
      { ...common, phase: "compacting", tokenEstimate: tokensBefore },
      { ...common, phase: "idle", tokenEstimate: tokensAfter, compacted: { tokensBefore } }
    ]);
    expect(reports).toEqual([
      {
        ...{ compactionId: row!.id, reason: "manual", messagesBefore: 8, messagesAfter: 5, replaced: 4 },
        ...{ tokensBefore, tokensAfter, shortened: true }
      }
    ]);
  });

  it("trap 39: a second one starts where the first began and supersedes it; undo shows what was before", async () => {
    const world = session({ fn: replace("m2", "m4") });
    await world.compactor.compact();
    const [first] = world.store.list("");
    world.settings.fn = replace("m5", "m6");
    expect(await world.compactor.compact()).toMatchObject({ fromMessageId: "m2", toMessageId: "m6" });
    const second = world.store.list("")[1]!;
    expect(world.seen()).toEqual(["m0", "m1", `compaction_${second.id}`, "m7"]);
    expect(await world.compactor.undo(`compaction_${second.id}`)).toBe(true);
    expect(world.seen()).toContain(`compaction_${first!.id}`);
    expect(await world.compactor.undo(first!.id)).toBe(true);
    expect(await world.compactor.undo(first!.id)).toBe(false);
    expect(world.seen()).toEqual(ids(world.path));
    expect(world.changed).toHaveBeenCalledTimes(4);
    expect(world.frames.at(-1)).toMatchObject({ phase: "idle", tokenEstimate: 8 * 104 + 100 });
  });

  it("§11.8 a function that fails gives an error frame, null, and idle afterwards", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const error = new Error("no model ".repeat(500));
    const { compactor, phases, frames, reports, store } = session({
      fn: () => Promise.reject(error),
      onError
    });
    expect(await compactor.compact()).toBeNull();
    expect(phases()).toEqual(["compacting", "error", "idle"]);
    expect((frames[1] as SessionErrorFrame).error).toHaveLength(COMPACTION_LIMITS.errorChars);
    expect(onError).toHaveBeenCalledExactlyOnceWith(error);
    expect(reports).toMatchObject([{ compactionId: null, shortened: false, replaced: 0 }]);
    expect(store.list("")).toEqual([]);
  });

  it.each([
    ["null", () => null],
    ["an end that nobody knows", replace("m0", "gone")]
  ])("%s changes nothing and returns null, with idle afterwards", async (_what, fn) => {
    const { compactor, phases, changed, refreshPrompt, reports } = session({ fn });
    expect(await compactor.compact()).toBeNull();
    expect(phases()).toEqual(["compacting", "idle"]);
    expect([changed, refreshPrompt].map((mock) => mock.mock.calls.length)).toEqual([0, 0]);
    expect(reports).toMatchObject([
      { compactionId: null, messagesBefore: 8, messagesAfter: 8, shortened: false }
    ]);
  });

  it("a range that is not in the history any more when the summary is there is not stored", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const world = session({
      fn: async () => {
        await promise;
        return { fromMessageId: "m2", toMessageId: "m6", summary: "short" };
      }
    });
    const running = world.compactor.compact();
    world.path.splice(4, 4, say("branch"));
    resolve();
    expect(await running).toBeNull();
    expect(world.store.list("")).toEqual([]);
  });

  it("one runs at a time: who asks meanwhile gets its outcome", async () => {
    const fn = vi.fn<CompactFunction>(replace("m2", "m5"));
    const { compactor, reports } = session({ fn });
    const [left, right] = await Promise.all([compactor.compact(), compactor.compact()]);
    expect(left).toEqual(right);
    expect([fn.mock.calls.length, reports.length]).toEqual([1, 1]);
    await compactor.compact();
    expect(fn).toHaveBeenCalledTimes(2);
  });

  it("a summary that never comes ends as a failure, and the next attempt is free", async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const world = session({
      fn: () => {
        start();
        return new Promise(() => undefined);
      }
    });
    const running = world.compactor.compact();
    await started;
    await world.clock.advance(COMPACTION_LIMITS.functionMs);
    expect(await running).toBeNull();
    expect(world.phases()).toEqual(["compacting", "error", "idle"]);
    world.settings.fn = replace("m2", "m5");
    expect(await world.compactor.compact()).not.toBeNull();
    expect(world.clock.pending).toBe(0);
  });

  it("a prompt that cannot be refreshed does not undo the compaction", async () => {
    const { compactor, phases, store } = session({
      fn: replace("m2", "m5"),
      refreshPrompt: () => Promise.reject(new Error("provider down"))
    });
    expect(await compactor.compact()).not.toBeNull();
    expect(phases()).toEqual(["compacting", "error", "idle"]);
    expect(store.list("")).toHaveLength(1);
  });

  it("frames and reports that cannot be delivered change nothing", async () => {
    const fail = () => {
      throw new Error("closed");
    };
    const { compactor } = session({ fn: replace("m2", "m5") }, { status: fail, report: fail });
    expect(await compactor.compact()).not.toBeNull();
  });

  it("gives the function its own list and the session's counter", async () => {
    const counter: TokenCounter = () => 7;
    const fn = vi.fn<CompactFunction>((messages) => {
      messages.length = 0;
      return null;
    });
    const { compactor, path } = session({ fn, counter });
    await compactor.compact();
    expect(fn.mock.calls[0]?.[1]).toEqual({ tokenCounter: counter });
    expect(path).toHaveLength(8);
  });
});

describe("§8.10 auto-compaction", () => {
  it("runs after an append when the estimate is above the threshold, not at it", async () => {
    const tokens = 8 * 104 + 100;
    const at = session({ fn: replace("m2", "m5"), threshold: tokens });
    expect(await at.compactor.afterAppend()).toBeNull();
    expect(at.phases()).toEqual(["idle"]);
    const above = session({ fn: replace("m2", "m5"), threshold: tokens - 1 });
    expect(await above.compactor.afterAppend()).toMatchObject({ toMessageId: "m5" });
    expect(above.phases()).toEqual(["compacting", "idle"]);
    expect(above.reports).toMatchObject([{ reason: "auto" }]);
  });

  it("does not run without a threshold or without a function, and counts only when someone watches", async () => {
    const fn = vi.fn<CompactFunction>(replace("m2", "m5"));
    const systemPrompt = vi.fn<() => Promise<string>>(() => Promise.resolve(""));
    const unwatched = session({ fn }, { systemPrompt, watched: () => false });
    await unwatched.compactor.afterAppend();
    await unwatched.compactor.announce();
    expect(systemPrompt).not.toHaveBeenCalled();
    const without = session({ threshold: 1 });
    expect(await without.compactor.afterAppend()).toBeNull();
    expect(without.phases()).toEqual(["idle"]);
    expect(fn).not.toHaveBeenCalled();
  });

  it("trap 39: a failure and a throwing error handler do not fail the append", async () => {
    const onError = () => {
      throw new Error("handler broke");
    };
    const failing = session({ fn: () => Promise.reject(new Error("no model")), threshold: 1, onError });
    expect(await failing.compactor.afterAppend()).toBeNull();
    expect(failing.phases()).toEqual(["compacting", "error", "idle"]);
    const counting = session({
      fn: replace("m2", "m5"),
      threshold: 1,
      counter: () => Promise.reject(new Error("no tokeniser"))
    });
    expect(await counting.compactor.afterAppend()).toBeNull();
    expect(counting.phases()).toEqual(["error"]);
    expect(console.warn).toHaveBeenCalledWith(expect.stringContaining("no tokeniser"));
  });

  it("warns once when it has no effect, and again only after one has succeeded", async () => {
    const world = session({ fn: () => null, threshold: 1 });
    const warnings = () => vi.mocked(console.warn).mock.calls.length;
    await world.compactor.afterAppend();
    await world.compactor.afterAppend();
    expect(warnings()).toBe(1);
    world.settings.fn = replace("m2", "m5");
    await world.compactor.afterAppend();
    world.settings.fn = () => null;
    await world.compactor.afterAppend();
    expect(warnings()).toBe(2);
  });

  it("a function that appends is not waited for by its own append", async () => {
    const world = session({ threshold: 1 });
    world.settings.fn = async () => {
      world.path.push(say("appended"));
      expect(await world.compactor.afterAppend()).toBeNull();
      return { fromMessageId: "m2", toMessageId: "m5", summary: "short" };
    };
    expect(await world.compactor.afterAppend()).toMatchObject({ toMessageId: "m5" });
    expect(world.phases()).toEqual(["compacting", "idle"]);
  });
});

describe("§8.10 the estimate", () => {
  it("is messages and system prompt by heuristic", async () => {
    expect(await session().compactor.estimate()).toBe(8 * 104 + 100);
  });

  it("is the author's count of messages, prompt and blocks", async () => {
    const counter = vi.fn<TokenCounter>(async () => 12.2);
    const { compactor, path } = session({ counter });
    expect(await compactor.estimate()).toBe(13);
    expect(counter).toHaveBeenCalledExactlyOnceWith({
      messages: path,
      systemPrompt: "p".repeat(400),
      contextBlocks: [{ label: "memory", content: "c", tokens: 1 }]
    });
  });

  it.each([Number.NaN, Infinity, -5, "7" as unknown as number])(
    "trap 39: a count of %s is 0",
    async (count) => {
      expect(await session({ counter: () => count }).compactor.estimate()).toBe(0);
    }
  );

  it("counts a changed message anew", async () => {
    const { compactor, path } = session();
    const before = await compactor.estimate();
    path[0] = say("m0", "x".repeat(800));
    expect(await compactor.estimate()).toBe(before + 100);
  });
});
