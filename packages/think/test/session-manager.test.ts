/** `SessionManager`: many named sessions in one database, without Think. Contract: durability §8.13, §8.14, §11.10, §11.11. */
import { createCompactFunction, Session, SessionManager } from "@cloudflare/think/session";
import type { ToolSet, UIMessage } from "ai";
import { beforeAll, describe, expect, it } from "vitest";
import { SESSION_LIMITS } from "../src/shared/limits";
import { MemorySessionProvider } from "./memory-session-provider";
import { answer, dialogue, ids, loadWorker, user } from "./worker/messages-agents";
import { onContextAgent, type ContextDesk } from "./worker/session-context-agents";

beforeAll(loadWorker, 60_000);

interface ManagerDesk extends ContextDesk {
  readonly manager: SessionManager;
  /** A new life on the same rows. */
  wake(): SessionManager;
}

const onManager = (work: (desk: ManagerDesk) => Promise<void>) =>
  onContextAgent((desk) =>
    work({
      ...desk,
      manager: SessionManager.create(desk.agent),
      wake: () => SessionManager.create(desk.agent)
    })
  );

const notFound = expect.objectContaining({
  code: "session-not-found",
  message: expect.stringContaining("Session not found")
});
const code = (expected: string) => expect.objectContaining({ name: "ThinkError", code: expected });

/** Runs a tool as the AI SDK would. */
async function call(tools: ToolSet, name: string, input: unknown): Promise<unknown> {
  return tools[name]?.execute?.(input, { toolCallId: "c", messages: [] } as never);
}

/** Rows of all tables as text, to see that nothing has changed. */
function everything({ rows }: ContextDesk): string {
  const tables = rows(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'assistant%' ORDER BY name"
  );
  return JSON.stringify(tables.map(({ name }) => [name, rows(`SELECT * FROM "${String(name)}"`)]));
}

describe("§8.14 sessions", () => {
  it("are made, found, listed by their last change, renamed and deleted", () =>
    onManager(async ({ manager, wake }) => {
      const first = manager.create("first", { model: "m", source: "web" });
      const second = manager.create("second", { parentSessionId: first.id });
      expect(first).toEqual({
        ...{ id: expect.any(String), name: "first", parent_session_id: null, model: "m", source: "web" },
        ...{ input_tokens: 0, output_tokens: 0, estimated_cost: 0, end_reason: null },
        ...{ created_at: expect.any(Number), updated_at: expect.any(Number) }
      });
      expect(second.parent_session_id).toBe(first.id);
      expect(manager.get("nobody")).toBeNull();
      manager.rename(first.id, "renamed");
      expect(wake().get(first.id)).toMatchObject({ name: "renamed" });
      expect(
        new Set(
          wake()
            .list()
            .map(({ id }) => id)
        )
      ).toEqual(new Set([first.id, second.id]));
      await manager.delete(first.id);
      expect(
        wake()
          .list()
          .map(({ id }) => id)
      ).toEqual([second.id]);
    }));

  it("deleting one takes its messages, summaries, branches, index, blocks and prompt along, and no others", () =>
    onContextAgent(async (desk) => {
      const make = () => SessionManager.create(desk.agent).withContext("memory").withCachedPrompt();
      const manager = make();
      const [gone, kept] = ["gone", "kept"].map((name) => manager.create(name).id);
      for (const id of [gone!, kept!]) {
        await manager.appendAll(id, dialogue(4));
        await manager.append(id, answer("other"), "m0");
        manager.addCompaction(id, "begin", "m0", "other");
        await manager.getSession(id).replaceContextBlock("memory", `memory of ${id}`);
        await manager.getSession(id).freezeSystemPrompt();
      }
      expect(manager.search("0")).not.toEqual([]);
      await manager.delete(gone!);
      expect(everything(desk)).not.toContain(gone);
      const blocks = desk.rows("SELECT label FROM cf_agents_context_blocks ORDER BY label");
      expect(blocks.map(({ label }) => label)).toEqual([`_system_prompt_${kept}`, `memory_${kept}`]);
      const woken = make();
      expect(woken.getTotalMessageCount(kept!)).toBe(5);
      expect(await woken.getSession(kept!).freezeSystemPrompt()).toContain(`memory of ${kept}`);
      await expect(manager.append(gone!, user("late"))).rejects.toThrow(notFound);
    }));

  it("deleting one spares blocks of sessions whose id ends like its own, and blocks of the primary session", () =>
    onContextAgent(async (desk) => {
      const open = (id: string, label: string) =>
        Session.create(desk.agent).forSession(id).withContext(label).withCachedPrompt();
      const labels = { a_b: "notes", b: "notes", a: "b", "": "notes_b" };
      for (const [id, label] of Object.entries(labels)) {
        const session = open(id, label);
        await session.appendMessage(user("m"));
        // The primary session's block and that of "b" share a key, as the published package stores them.
        if (id !== "b") await session.replaceContextBlock(label, `of ${id}`);
        await session.freezeSystemPrompt();
      }
      await open("b", "plan").replaceContextBlock("plan", "goes");
      const manager = SessionManager.create(desk.agent).withContext("notes").withContext("notes_b");
      await manager.delete("b");
      const blocks = desk.rows("SELECT label FROM cf_agents_context_blocks ORDER BY label");
      expect(blocks.map(({ label }) => label)).toEqual(
        ["_system_prompt", "_system_prompt_a", "_system_prompt_a_b", "b_a", "notes_a_b", "notes_b"].toSorted()
      );
    }));

  it("an id that nobody created is refused by every call, before anything is written", () =>
    onManager(async ({ manager, ...desk }) => {
      const { id } = manager.create("one");
      await manager.append(id, user("m"));
      const before = everything(desk);
      const strange = [undefined, null, 7, "", "nobody", "x".repeat(5_000)] as unknown as string[];
      for (const bad of strange) {
        const calls: (() => unknown)[] = [
          () => manager.getSession(bad),
          () => manager.rename(bad, "x"),
          () => manager.getHistory(bad),
          () => manager.getMessageCount(bad),
          () => manager.getTotalMessageCount(bad),
          () => manager.getBranches(bad, "m"),
          () => manager.addCompaction(bad, "s", "m", "m"),
          () => manager.getCompactions(bad),
          () => manager.addUsage(bad, 1, 1, 1),
          () => manager.exportSessionStream(bad)
        ];
        for (const one of calls) expect(one).toThrow(notFound);
        const promises: (() => Promise<unknown>)[] = [
          () => manager.delete(bad),
          () => manager.append(bad, user("x")),
          () => manager.appendAll(bad, dialogue(2)),
          () => manager.upsert(bad, user("x")),
          () => manager.clearMessages(bad),
          () => manager.deleteMessages(bad, ["m"]),
          () => manager.fork(bad, "m", "fork"),
          () => manager.compactAndSplit(bad, "s"),
          () => manager.exportSession(bad)
        ];
        for (const one of promises) await expect(one()).rejects.toThrow(notFound);
        expect(manager.get(bad)).toBeNull();
      }
      expect(() => manager.create("x", { parentSessionId: "nobody" })).toThrow(notFound);
      expect(everything(desk)).toBe(before);
    }));

  it("what a session cannot be is refused", () =>
    onManager(async ({ manager, ...desk }) => {
      const { id } = manager.create("one");
      await manager.append(id, user("m"));
      const before = everything(desk);
      for (const name of ["", "  ", "x".repeat(SESSION_LIMITS.nameChars + 1), undefined, 7] as string[]) {
        expect(() => manager.create(name)).toThrow(code("invalid-session"));
        expect(() => manager.rename(id, name)).toThrow(code("invalid-session"));
        await expect(manager.fork(id, "m", name)).rejects.toThrow(code("invalid-session"));
      }
      const long = "x".repeat(SESSION_LIMITS.noteChars + 1);
      expect(() => manager.create("x", { model: long })).toThrow(code("invalid-session"));
      expect(() => manager.create("x", { source: 7 as never })).toThrow(code("invalid-session"));
      for (const amount of [Number.NaN, Infinity, -1])
        expect(() => manager.addUsage(id, amount, 0, 0)).toThrow(code("invalid-session"));
      for (const summary of ["", "  ", undefined] as string[]) {
        expect(() => manager.addCompaction(id, summary, "m", "m")).toThrow(code("invalid-session"));
        await expect(manager.compactAndSplit(id, summary)).rejects.toThrow(code("invalid-session"));
      }
      expect(() => SessionManager.create(new MemorySessionProvider() as never)).toThrow(
        code("invalid-session")
      );
      expect(everything(desk)).toBe(before);
    }));

  it("are 10,000 at most, however they are made", () =>
    onManager(async ({ manager, rows }) => {
      const { id } = manager.create("one");
      await manager.append(id, user("m"));
      const document = await manager.exportSession(id);
      rows(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
          INSERT INTO assistant_sessions (id, name, created_at, updated_at) SELECT 's' || i, 'n', 0, 0 FROM n`,
        SESSION_LIMITS.sessions - 1
      );
      const full = /10000 sessions, which is the most/;
      expect(() => manager.create("more")).toThrow(full);
      await expect(manager.fork(id, "m", "more")).rejects.toThrow(full);
      await expect(manager.compactAndSplit(id, "more")).rejects.toThrow(full);
      await expect(manager.importSession(document)).rejects.toThrow(full);
      await manager.delete("s1");
      expect(manager.create("again").name).toBe("again");
    }));

  it("share the settings of the chain, and each has one object", () =>
    onContextAgent(async ({ agent }) => {
      const summarize = () => "short";
      const manager = SessionManager.create(agent)
        .withContext("memory", { description: "facts", maxTokens: 50 })
        .withCachedPrompt()
        .onCompaction(createCompactFunction({ summarize, protectHead: 1, tailTokenBudget: 50 }))
        .compactAfter(100)
        .onCompactionError(() => undefined);
      const [a, b] = ["a", "b"].map((name) => manager.create(name).id);
      expect(manager.getSession(a!)).toBe(manager.getSession(a!));
      expect(manager.getSession(a!)).not.toBe(manager.getSession(b!));
      await manager.getSession(a!).replaceContextBlock("memory", "only here");
      expect(await manager.getSession(b!).refreshSystemPrompt()).not.toContain("only here");
      await manager.appendAll(b!, dialogue(8, 200));
      expect(manager.getCompactions(b!)).toHaveLength(1);
      expect(manager.getCompactions(a!)).toEqual([]);
      expect(() => manager.withContext("late")).toThrow(code("invalid-session"));
      expect(() => SessionManager.create(agent).compactAfter(-1)).toThrow(code("invalid-session"));
    }));
});

describe("§8.14 messages", () => {
  it("are appended, upserted, counted, deleted and cleared, and §11.11 ids are those of their session", () =>
    onManager(async ({ manager, wake }) => {
      const [a, b] = ["a", "b"].map((name) => manager.create(name).id);
      await manager.appendAll(a!, dialogue(3));
      await manager.append(b!, user("m0", "of b"));
      await manager.append(a!, answer("branch"), "m0");
      await manager.upsert(a!, answer("branch", "better"));
      await manager.upsert(a!, user("new"));
      expect(manager.getHistory(a!).map(({ id }) => id)).toEqual(["m0", "branch", "new"]);
      expect(wake().getHistory(a!, "m2")).toEqual(dialogue(3));
      expect(ids(manager.getBranches(a!, "m0"))).toEqual(["m1", "branch"]);
      expect(manager.getMessageCount(a!)).toBe(3);
      expect(manager.getTotalMessageCount(a!)).toBe(5);
      await manager.deleteMessages(a!, ["branch", "nobody"]);
      expect(ids(wake().getHistory(a!))).toEqual(["m0", "new"]);
      await manager.clearMessages(a!);
      expect(wake().getHistory(a!)).toEqual([]);
      expect(wake().getHistory(b!)).toEqual([user("m0", "of b")]);
      expect(manager.get(a!)).toMatchObject({ name: "a" });
    }));

  it("are deleted for a few rows each, however long the path is", () =>
    onManager(async ({ manager, wake, cost }) => {
      const { id } = manager.create("long");
      await manager.appendAll(id, dialogue(200));
      const gone = manager.getHistory(id).slice(50, 150);
      const { rowsRead } = await cost(() => manager.deleteMessages(id, ids(gone)));
      expect(rowsRead).toBeLessThan(gone.length * 10);
      expect(manager.getMessageCount(id)).toBe(100);
      expect(wake().getHistory(id)).toEqual(manager.getHistory(id));
    }));

  it("that change make their session the newest; what changes nothing does not", () =>
    onManager(async ({ manager, rows, cost }) => {
      const { id } = manager.create("one");
      await manager.appendAll(id, dialogue(3));
      await manager.append(id, answer("off the path"), "m0");
      await manager.append(id, answer("leaf"), "m2");
      const past = 1_700_000_000_000;
      const touches = async (work: () => unknown) => {
        rows("UPDATE assistant_sessions SET updated_at = ?", past);
        await work();
        return manager.get(id)!.updated_at > past;
      };
      expect(await touches(() => manager.append(id, user("n")))).toBe(true);
      expect(await touches(() => manager.appendAll(id, [user("o")]))).toBe(true);
      expect(await touches(() => manager.upsert(id, answer("off the path", "new words")))).toBe(true);
      expect(await touches(() => manager.deleteMessages(id, ["off the path"]))).toBe(true);
      expect(await touches(() => manager.addCompaction(id, "s", "m0", "m1"))).toBe(true);
      expect(await touches(() => manager.addUsage(id, 1, 1, 1))).toBe(true);
      expect(await touches(() => manager.rename(id, "two"))).toBe(true);
      expect(await touches(() => manager.clearMessages(id))).toBe(true);
      await manager.appendAll(id, dialogue(3));
      await manager.append(id, answer("branch"), "m0");
      for (const nothing of [
        () => manager.append(id, user("m0", "again")),
        () => manager.upsert(id, dialogue(3)[0]!),
        () => manager.upsert(id, dialogue(3)[2]!),
        () => manager.deleteMessages(id, ["nobody"]),
        () => manager.getHistory(id)
      ]) {
        expect(await touches(nothing)).toBe(false);
        expect((await cost(nothing)).totalWritten).toBe(0);
      }
    }));

  it("summaries stand for a part of one path, and trap 39 never for a summary", () =>
    onManager(async ({ manager, wake }) => {
      const { id } = manager.create("one");
      await manager.appendAll(id, dialogue(5));
      await manager.append(id, answer("branch"), "m1");
      await manager.append(id, user("end"), "m4");
      const stored = manager.addCompaction(id, "the middle", "m1", "m3");
      expect(stored).toMatchObject({ summary: "the middle", fromMessageId: "m1", toMessageId: "m3" });
      expect(wake().getCompactions(id)).toEqual([stored]);
      expect(wake().getHistory(id)).toHaveLength(4);
      for (const [from, to] of [
        ["m3", "m1"],
        ["branch", "m3"],
        ["m2", "branch"]
      ] as const)
        expect(() => manager.addCompaction(id, "s", from, to)).toThrow(code("invalid-session"));
      for (const [from, to] of [
        ["nobody", "m1"],
        ["m0", "nobody"],
        [`compaction_${stored.id}`, "m4"]
      ] as const)
        expect(() => manager.addCompaction(id, "s", from, to)).toThrow(code("message-not-found"));
      expect(wake().getCompactions(id)).toEqual([stored]);
    }));
});

describe("§8.14 fork and split", () => {
  it("a fork has the path with new ids, also inside the JSON, and summaries as messages", () =>
    onManager(async ({ manager, wake, rows }) => {
      const { id } = manager.create("origin");
      await manager.appendAll(id, dialogue(6));
      await manager.append(id, answer("other"), "m0");
      manager.addCompaction(id, "the middle", "m1", "m3");
      const fork = await manager.fork(id, "m4", "a fork");
      expect(fork).toMatchObject({ name: "a fork", parent_session_id: id });
      const copy = wake().getHistory(fork.id);
      const texts = (messages: readonly UIMessage[]) =>
        messages.map(({ parts }) => (parts[0]?.type === "text" ? parts[0].text : ""));
      expect(texts(copy)).toEqual([texts(dialogue(1))[0], "the middle", texts(dialogue(5))[4]]);
      expect(copy.every((message) => !message.id.startsWith("compaction_"))).toBe(true);
      for (const row of rows("SELECT id, content FROM assistant_messages WHERE session_id = ?", fork.id))
        expect(JSON.parse(String(row.content))).toMatchObject({ id: row.id });
      expect(wake().getCompactions(fork.id)).toEqual([]);
      // Neither can change the other.
      await manager.clearMessages(id);
      expect(wake().getHistory(fork.id)).toEqual(copy);
      await expect(manager.fork(fork.id, "nobody", "x")).rejects.toThrow(code("message-not-found"));
      expect(manager.list()).toHaveLength(2);
    }));

  it("compactAndSplit ends a session and goes on in a new one with the summary as its only message", () =>
    onManager(async ({ manager, wake }) => {
      const { id } = manager.create("long talk", { model: "m", source: "web" });
      await manager.appendAll(id, dialogue(4));
      const next = await manager.compactAndSplit(id, "  what was said  ");
      expect(manager.get(id)).toMatchObject({ end_reason: "compaction" });
      expect(next).toMatchObject({
        ...{ name: "long talk", parent_session_id: id, model: "m", source: "web", end_reason: null }
      });
      expect(wake().getHistory(next.id)).toEqual([
        { id: expect.any(String), role: "assistant", parts: [{ type: "text", text: "what was said" }] }
      ]);
      expect(wake().getHistory(id)).toEqual(dialogue(4));
      expect(await manager.compactAndSplit(next.id, "again", "named")).toMatchObject({ name: "named" });
    }));

  it("usage adds up", () =>
    onManager(async ({ manager, wake }) => {
      const { id } = manager.create("one");
      manager.addUsage(id, 10, 5, 0.25);
      manager.addUsage(id, 1, 2, 0.5);
      expect(wake().get(id)).toMatchObject({ input_tokens: 11, output_tokens: 7, estimated_cost: 0.75 });
    }));
});

describe("§8.13 search over all sessions", () => {
  it("finds messages with every word wherever they are, and none that are gone", () =>
    onManager(async ({ manager, wake }) => {
      const [a, b] = ["a", "b"].map((name) => manager.create(name).id);
      await manager.append(a!, user("m", "quick brown fox"));
      await manager.append(b!, user("m", "quick dog"));
      const found = (query: string, from = manager) =>
        from
          .search(query)
          .map(({ sessionId }) => (sessionId === a ? "a" : "b"))
          .toSorted();
      expect(found("quick")).toEqual(["a", "b"]);
      expect(found("fox quick")).toEqual(["a"]);
      expect(manager.search("quick", { limit: 1 })).toHaveLength(1);
      for (const query of ["", '"', "NEAR(", "AND"]) expect(manager.search(query)).toEqual([]);
      for (const query of [undefined, 7] as never[]) expect(manager.search(query)).toEqual([]);
      await manager.upsert(b!, user("m", "lazy dog"));
      expect(found("quick", wake())).toEqual(["a"]);
      await manager.delete(a!);
      expect(found("quick")).toEqual([]);
      const { id } = manager.create("c");
      await manager.append(id, user("n", "quick again"));
      expect(found("quick", wake())).toEqual(["b"]);
    }));

  it("session_search gives a model the ten best as text, each with its session", () =>
    onManager(async ({ manager }) => {
      const { id } = manager.create("Holidays");
      for (let index = 0; index < 15; index += 1)
        await manager.append(id, user(`m${index}`, `beach number ${index}`));
      await manager.append(id, answer("long", `${"x ".repeat(5_000)}lighthouse${" y".repeat(5_000)}`));
      const tools = manager.tools();
      expect(Object.keys(tools)).toEqual(["session_search"]);
      const text = String(await call(tools, "session_search", { query: "beach" }));
      expect(text.match(/\[Holidays, user, \d{4}-\d\d-\d\d\]\nbeach number \d+/g)).toHaveLength(10);
      const long = String(await call(tools, "session_search", { query: "lighthouse" }));
      expect(long).toContain("lighthouse");
      expect(long.length).toBeLessThan(2_100);
      expect(await call(tools, "session_search", { query: "mountain" })).toBe("No results found");
      for (const query of ['"', "", "NEAR(a b)"])
        expect(await call(tools, "session_search", { query })).toBe("No results found");
    }));

  it("withSearchableHistory adds a read-only block through which each session searches all of them", () =>
    onContextAgent(async ({ agent }) => {
      const manager = SessionManager.create(agent).withSearchableHistory("past");
      const [old, now] = ["old", "now"].map((name) => manager.create(name).id);
      await manager.append(old!, user("m", "The cat is called Minka."));
      const session = manager.getSession(now!);
      const prompt = await session.freezeSystemPrompt();
      expect(prompt).toContain("PAST (What was said in all conversations) [searchable]");
      const tools = await session.tools();
      expect(Object.keys(tools)).toEqual(["search_context"]);
      expect(String(await call(tools, "search_context", { label: "past", query: "cat" }))).toContain("Minka");
      expect(String(await call(tools, "search_context", { label: "past", query: "dog" }))).toContain(
        "No results found"
      );
      await expect(session.replaceContextBlock("past", "x")).rejects.toThrow(/past/);
      expect(await session.refreshSystemPrompt()).toBe(prompt);
    }));
});
