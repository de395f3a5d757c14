import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { ThoughtStorage } from "./sql-thoughts";
import { ThoughtLog, type ThoughtLogOptions } from "./thought-log";

/** A Durable Object's storage, as far as a log sees it, on the SQLite of Node. */
function sqlite(): ThoughtStorage {
  const database = new DatabaseSync(":memory:");
  return {
    sql: {
      exec: (statement, ...bindings) => {
        const rows = database.prepare(statement).all(...bindings);
        return { toArray: () => rows };
      }
    },
    transactionSync: (work) => work()
  };
}

function logWith(kind: string, options: ThoughtLogOptions = {}) {
  let time = Date.UTC(2024, 0, 1);
  const now = () => new Date((time += 1000) - 1000);
  const log = new ThoughtLog({ now, ...options, ...(kind === "SQLite" ? { storage: sqlite() } : {}) });
  return { log, at: (seconds: number) => new Date(Date.UTC(2024, 0, 1) + seconds * 1000).toISOString() };
}

describe.each(["memory", "SQLite"])("§8.3 a thought log in %s", (kind) => {
  it("getContext makes a session once: no thoughts, no steps, both times now", async () => {
    const { log, at } = logWith(kind);
    const fresh = {
      sessionId: "w",
      thoughts: [],
      metadata: { createdAt: at(0), lastUpdated: at(0), totalSteps: 0 }
    };
    expect(await log.getContext("w")).toEqual(fresh);
    expect(await log.getContext("w")).toEqual(fresh);
  });

  it("addThought appends, counts from 1 and moves lastUpdated", async () => {
    const { log, at } = logWith(kind);
    expect(await log.addThought("w", "First thought")).toBe(1);
    expect(await log.addThought("w", "Second thought")).toBe(2);
    expect(await log.getContext("w")).toEqual({
      sessionId: "w",
      thoughts: [
        { timestamp: "2024-01-01T00:00:00.000Z", thought: "First thought", step: 1 },
        { timestamp: at(1), thought: "Second thought", step: 2 }
      ],
      metadata: { createdAt: at(0), lastUpdated: at(1), totalSteps: 2 }
    });
  });

  it("getAllThoughts is empty for a fresh session, and a copy", async () => {
    const { log } = logWith(kind);
    expect(await log.getAllThoughts("none")).toEqual([]);
    await log.addThought("w", "kept");
    const copy = await log.getAllThoughts("w");
    copy.pop();
    expect(await log.getAllThoughts("w")).toHaveLength(1);
  });

  it("getFormattedContext reads like the document", async () => {
    const { log } = logWith(kind);
    expect(await log.getFormattedContext("w")).toBe("No thoughts yet in this session.");
    await log.addThought("w", "First thought");
    await log.addThought("w", "Second thought");
    expect(await log.getFormattedContext("w")).toBe(
      "Previous thoughts in this session:\n\nStep 1 (2024-01-01T00:00:00.000Z):\nFirst thought\n\n" +
        "Step 2 (2024-01-01T00:00:01.000Z):\nSecond thought\n"
    );
  });

  it("clearContext forgets the counters too, and an unknown session is fine", async () => {
    const { log } = logWith(kind);
    await log.clearContext("unknown");
    await log.addThought("w", "a");
    await log.addThought("w", "b");
    await log.clearContext("w");
    expect(await log.getAllThoughts("w")).toEqual([]);
    expect(await log.addThought("w", "c")).toBe(1);
  });

  it("getContextSummary makes the session like getContext", async () => {
    const { log, at } = logWith(kind);
    const summary = { sessionId: "w", totalSteps: 0, createdAt: at(0), lastUpdated: at(0) };
    expect(await log.getContextSummary("w")).toEqual(summary);
    await log.addThought("w", "a");
    expect(await log.getContextSummary("w")).toEqual({ ...summary, totalSteps: 1, lastUpdated: at(1) });
  });

  it("trap 40: the 101st thought pushes out the first, and is step 101", async () => {
    const { log } = logWith(kind);
    for (let index = 1; index <= 100; index++) await log.addThought("w", `thought ${index}`);
    expect(await log.record("w", "one more")).toEqual({ step: 101, thought: "one more", contextSize: 100 });
    const thoughts = await log.getAllThoughts("w");
    expect(thoughts).toHaveLength(100);
    expect(thoughts[0]).toMatchObject({ step: 2 });
    expect((await log.getContextSummary("w")).totalSteps).toBe(101);
  });

  it("trap 40: sessions are separate, and parallel thoughts get steps of their own", async () => {
    const { log } = logWith(kind);
    const steps = await Promise.all(["a", "b", "c", "d"].map((thought) => log.addThought("w", thought)));
    expect(steps).toEqual([1, 2, 3, 4]);
    expect(await log.addThought("v", "other")).toBe(1);
    expect(await log.getAllThoughts("v")).toHaveLength(1);
  });

  it("§8.2 stores text verbatim but for NUL and CRLF, and refuses empty and long ones with a code", async () => {
    const { log } = logWith(kind, { maxThoughtLength: 100 });
    expect(await log.record("w", " a\0\r\nb\r \uD800")).toMatchObject({ thought: " a\nb\r \uFFFD" });
    for (const empty of ["", "  \n", "\0"])
      await expect(log.addThought("w", empty)).rejects.toMatchObject({ code: "empty_thought" });
    await expect(log.addThought("w", "x".repeat(101))).rejects.toMatchObject({
      code: "context_error",
      message: expect.stringMatching(/101.*100/)
    });
    await expect(log.addThought("i".repeat(2000), "x")).rejects.toMatchObject({ code: "context_error" });
    expect(await log.getAllThoughts("w")).toHaveLength(1);
  });

  it("§8.1 cleanup forgets only what was idle for so long, and only when it is called", async () => {
    const { log } = logWith(kind);
    await log.addThought("old", "x");
    for (let index = 0; index < 5; index++) await log.addThought("new", "x");
    expect(await log.cleanup(3000)).toBe(1);
    expect(await log.getAllThoughts("old")).toEqual([]);
    expect(await log.getAllThoughts("new")).toHaveLength(5);
  });

  it("§8.3 keeps the newest thoughts of each session, whatever the order of calls", async () => {
    const action = fc.record({
      session: fc.constantFrom("a", "b"),
      kind: fc.constantFrom("add" as const, "add" as const, "add" as const, "clear" as const)
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(action, { maxLength: 30 }),
        async (maxThoughts, actions) => {
          const { log } = logWith(kind, { maxThoughts });
          const model = new Map<string, string[]>();
          for (const [index, { session, kind: what }] of actions.entries()) {
            const thoughts = model.get(session) ?? [];
            if (what === "clear") {
              await log.clearContext(session);
              model.delete(session);
              continue;
            }
            model.set(session, [...thoughts, `t${index}`]);
            expect(await log.record(session, `t${index}`)).toEqual({
              step: thoughts.length + 1,
              thought: `t${index}`,
              contextSize: Math.min(thoughts.length + 1, maxThoughts)
            });
          }
          for (const session of ["a", "b"]) {
            const all = (model.get(session) ?? []).map((thought, index) => ({ thought, step: index + 1 }));
            expect(await log.getAllThoughts(session)).toMatchObject(all.slice(-maxThoughts));
          }
        }
      ),
      { numRuns: 60 }
    );
  });
});

describe("§8.1 the options of a thought log", () => {
  it.each([
    { maxThoughts: 0 },
    { maxThoughts: 1001 },
    { maxThoughts: 1.5 },
    { maxThoughtLength: 99 },
    { maxThoughtLength: 100_001 }
  ])("refuses %j when it is made", (options) => {
    expect(() => new ThoughtLog(options)).toThrow(/must be a whole number/);
  });

  it("never writes a thought to the console", async () => {
    const spies = (["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name));
    const log = new ThoughtLog();
    await log.addThought("w", "in confidence");
    await log.addThought("w", "").catch(() => undefined);
    for (const spy of spies) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });
});
