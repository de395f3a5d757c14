import { countRows, fakeClock } from "@cloudflare/think/testing";
import { beforeAll, describe, expect, it } from "vitest";
import type { SessionErrorFrame, SessionStatusFrame } from "../src/protocol/frames";
import { createCompactionStore, type CompactionStore } from "../src/session/compaction/compaction-store";
import { Compactor } from "../src/session/compaction/compactor";
import { createCompactFunction } from "../src/session/compaction/create-compact-function";
import { applyOverlays, type StoredCompaction } from "../src/session/compaction/overlay";
import { COMPACTION_LIMITS } from "../src/shared/limits";
import { dialogue, loadWorker, onNewObject, user } from "./worker/messages-agents";

beforeAll(loadWorker, 60_000);

const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

const overlay = (id: string, createdAt = 1_800_000_000_000, ends = ["m2", "m5"]): StoredCompaction => ({
  id,
  fromMessageId: ends[0]!,
  toMessageId: ends[1]!,
  summary: `summary of ${id}`,
  createdAt
});

/** Tables as databases may have them: ours is made by the store, the others were there before. */
const layouts: readonly (readonly [string, string | null])[] = [
  ["a new database", null],
  [
    "a published table with dates as text",
    `CREATE TABLE assistant_compactions (id TEXT PRIMARY KEY, session_id TEXT NOT NULL DEFAULT '', summary TEXT NOT NULL,
      from_message_id TEXT NOT NULL, to_message_id TEXT NOT NULL, created_at DATETIME DEFAULT CURRENT_TIMESTAMP)`
  ],
  [
    "a published table with seconds",
    `CREATE TABLE assistant_compactions (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, summary TEXT NOT NULL,
      from_message_id TEXT NOT NULL, to_message_id TEXT NOT NULL, created_at INTEGER NOT NULL DEFAULT (unixepoch()))`
  ],
  [
    "a published table with a text column",
    `CREATE TABLE assistant_compactions (id TEXT PRIMARY KEY, session_id TEXT, from_message_id TEXT, to_message_id TEXT,
      summary TEXT, created_at TEXT)`
  ]
];

describe.each(layouts)("§8.2 overlays in %s", (_name, table) => {
  const onStore = (work: (store: CompactionStore) => void) =>
    onNewObject(({ sql }) => {
      if (table !== null) sql.exec(table);
      work(createCompactionStore(sql));
      // What one life has written the next one reads.
      return createCompactionStore(sql).list("");
    });

  it("come back as they were stored, oldest first, each session its own", async () => {
    const stored = await onStore((store) => {
      store.add("", overlay("b", 1_800_000_000_002));
      store.add("", overlay("a", 1_800_000_000_003));
      store.add("", overlay("c", 1_800_000_000_001));
      store.add("work", overlay("d"));
      expect(ids(store.list("work"))).toEqual(["d"]);
      expect(store.list("nobody")).toEqual([]);
    });
    expect(stored).toEqual([
      overlay("c", 1_800_000_000_001),
      overlay("b", 1_800_000_000_002),
      overlay("a", 1_800_000_000_003)
    ]);
  });

  it("are removed one by one, and only from their session", async () => {
    const stored = await onStore((store) => {
      store.add("", overlay("a"));
      store.add("", overlay("b"));
      expect(store.remove("work", "a")).toBe(false);
      expect(store.remove("", "a")).toBe(true);
      expect(store.remove("", "a")).toBe(false);
    });
    expect(ids(stored)).toEqual(["b"]);
  });

  it("are cleared with their session", async () => {
    const stored = await onStore((store) => {
      store.add("", overlay("a"));
      store.add("work", overlay("b"));
      store.clear("");
      expect(ids(store.list("work"))).toEqual(["b"]);
    });
    expect(stored).toEqual([]);
  });

  it("follow the messages when an end is deleted, and go when nothing is left", async () => {
    const stored = await onStore((store) => {
      store.add("", overlay("kept", 1_800_000_000_001, ["m0", "m1"]));
      store.add("", overlay("moved", 1_800_000_000_002, ["m2", "m5"]));
      store.add("", overlay("gone", 1_800_000_000_003, ["m5", "m5"]));
      store.add("work", overlay("other", 1_800_000_000_004, ["m2", "m5"]));
      const asked: string[] = [];
      store.moveEnds("", new Set(["m2", "m5"]), ({ id }) => {
        asked.push(id);
        return id === "gone" ? null : { fromMessageId: "m3", toMessageId: "m4" };
      });
      expect(asked).toEqual(["moved", "gone"]);
      expect(store.list("work")).toEqual([overlay("other", 1_800_000_000_004)]);
    });
    expect(stored).toEqual([
      overlay("kept", 1_800_000_000_001, ["m0", "m1"]),
      overlay("moved", 1_800_000_000_002, ["m3", "m4"])
    ]);
  });

  it("stay bounded: beyond 50 the oldest go", async () => {
    const stored = await onStore((store) => {
      store.add("work", overlay("w"));
      for (let index = 0; index < COMPACTION_LIMITS.overlays + 2; index += 1) {
        store.add("", overlay(`c${index}`, 1_800_000_000_000 + index));
      }
      expect(store.list("work")).toHaveLength(1);
    });
    expect(stored).toHaveLength(COMPACTION_LIMITS.overlays);
    expect(stored[0]?.id).toBe("c2");
  });
});

describe("§8.2 rows of the published package", () => {
  it("are ordered together with ours, whatever their dates look like", () =>
    onNewObject(({ sql }) => {
      sql.exec(layouts[3]![1]!);
      const insert = (id: string, at: string | number | null) =>
        sql.exec("INSERT INTO assistant_compactions VALUES (?, '', 'm2', 'm5', 's', ?)", id, at);
      insert("date", "2026-11-18 10:00:00");
      insert("iso", "2026-11-18T10:00:01.500Z");
      insert("seconds", Date.UTC(2026, 10, 18, 10, 0, 2) / 1000);
      insert("nothing", null);
      insert("damaged", "yesterday");
      const store = createCompactionStore(sql);
      store.add("", overlay("ours", Date.UTC(2026, 10, 18, 10, 0, 3)));
      expect(store.list("").map(({ id, createdAt }) => [id, createdAt])).toEqual([
        ["damaged", 0],
        ["nothing", 0],
        ["date", Date.UTC(2026, 10, 18, 10)],
        ["iso", Date.UTC(2026, 10, 18, 10, 0, 1, 500)],
        ["seconds", Date.UTC(2026, 10, 18, 10, 0, 2)],
        ["ours", Date.UTC(2026, 10, 18, 10, 0, 3)]
      ]);
    }));
});

describe("the cost of overlays", () => {
  it("is nothing before the first one: no table, no row", () =>
    onNewObject(async ({ sql, storage, rows }) => {
      const store = createCompactionStore(sql);
      const { totalRead, totalWritten } = await countRows(storage, () => {
        expect(store.list("")).toEqual([]);
        expect(store.remove("", "x")).toBe(false);
        store.clear("");
        store.moveEnds("", new Set(["m1"]), () => null);
      });
      expect([totalRead, totalWritten]).toEqual([0, 0]);
      expect(rows("SELECT name FROM sqlite_master WHERE name = 'assistant_compactions'")).toEqual([]);
    }));

  it("is one written row each, and a session reads only its own", () =>
    onNewObject(async ({ sql, storage }) => {
      const store = createCompactionStore(sql);
      for (let session = 0; session < 20; session += 1) {
        for (let index = 0; index < 5; index += 1) store.add(`s${session}`, overlay(`c${session}-${index}`));
      }
      // Its five, and the row behind them that ends the search.
      expect((await countRows(storage, () => store.list("s7"))).totalRead).toBeLessThanOrEqual(6);
      expect((await countRows(storage, () => store.add("s7", overlay("new")))).totalWritten).toBe(1);
    }));

  it("no statement scans the table", () =>
    onNewObject(async ({ sql, storage, rows }) => {
      const store = createCompactionStore(sql);
      store.add("", overlay("first"));
      const { bySql } = await countRows(storage, () => {
        store.add("", overlay("a"));
        store.list("");
        store.moveEnds("", new Set(["m2"]), () => ({ fromMessageId: "m3", toMessageId: "m5" }));
        store.remove("", "a");
        store.clear("");
      });
      const statements = bySql
        .map(({ sql: text }) => text)
        .filter((text) => text.includes("assistant_compactions"));
      expect(statements.length).toBeGreaterThanOrEqual(5);
      for (const statement of statements) {
        const bindings = Array.from({ length: statement.split("?").length - 1 }, () => null);
        const plan = rows(`EXPLAIN QUERY PLAN ${statement}`, ...bindings).map(({ detail }) => String(detail));
        const scans = plan.filter((detail) => detail.startsWith("SCAN"));
        expect({ statement, scans }).toEqual({ statement, scans: [] });
      }
    }));

  it("a write that fails leaves all or nothing", () =>
    onNewObject(({ sql }) => {
      const store = createCompactionStore(sql);
      store.add("", overlay("a"));
      store.add("", overlay("b"));
      const before = store.list("");
      expect(() =>
        store.moveEnds("", new Set(["m2"]), ({ id }) => {
          if (id === "b") throw new Error("cycle");
          return null;
        })
      ).toThrow("cycle");
      expect(() => store.add("", overlay("a"))).toThrow('compaction "a" in this session already');
      expect(store.list("")).toEqual(before);
    }));
});

describe("§8.10 compaction on a real database", () => {
  it("grows from one compaction to the next, survives a wake, and is undone step by step", () =>
    onNewObject(async ({ sql }) => {
      const path = dialogue(12, 400);
      const clock = fakeClock();
      const prompts: string[] = [];
      const frames: (SessionStatusFrame | SessionErrorFrame)[] = [];
      const compactFunction = createCompactFunction({
        summarize: (prompt) => {
          prompts.push(prompt);
          return `summary ${prompts.length}`;
        },
        tailTokenBudget: 250
      });
      const seen = () => applyOverlays(path, createCompactionStore(sql).list(""));
      const wake = () =>
        new Compactor({
          ...{ sessionId: "", store: createCompactionStore(sql), clock, ids: clock.ids, history: seen },
          compactFunction: () => compactFunction,
          threshold: () => 1_000,
          tokenCounter: () => undefined,
          systemPrompt: () => Promise.resolve(""),
          contextBlocks: () => Promise.resolve([]),
          refreshPrompt: () => Promise.resolve(),
          changed: () => undefined,
          status: (frame) => void frames.push(frame),
          report: () => undefined
        });

      expect(await wake().afterAppend()).toEqual({
        fromMessageId: "m3",
        toMessageId: "m9",
        summary: "summary 1"
      });
      const [first] = createCompactionStore(sql).list("");
      expect(ids(seen())).toEqual(["m0", "m1", "m2", `compaction_${first!.id}`, "m10", "m11"]);

      await clock.advance(1);
      for (let index = 0; index < 5; index += 1) path.push(user(`n${index}`, "y".repeat(400)));
      const second = wake();
      expect(await second.afterAppend()).toMatchObject({ fromMessageId: "m3", toMessageId: "n2" });
      expect(prompts[1]).toContain("<summary-so-far>\nsummary 1\n</summary-so-far>");
      expect(ids(seen()).slice(4)).toEqual(["n3", "n4"]);
      expect(await second.afterAppend()).toBeNull();

      const newest = createCompactionStore(sql).list("")[1]!;
      expect(await wake().undo(newest.id)).toBe(true);
      expect(ids(seen())).toContain(`compaction_${first!.id}`);
      expect(await wake().undo(first!.id)).toBe(true);
      expect(seen()).toEqual(path);
      expect(frames.map((frame) => ("phase" in frame ? frame.phase : frame.error))).toEqual([
        ...["compacting", "idle", "compacting", "idle", "idle", "idle", "idle"]
      ]);
    }));
});
