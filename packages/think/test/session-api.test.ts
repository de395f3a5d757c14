/** `Session` without Think: the chain, appends, reads, search, on an agent's database, on a bare `sql` tag and on storage of one's own. */
import * as entry from "@cloudflare/think/session";
import { Session, type SessionHost, type SessionProvider } from "@cloudflare/think/session";
import { Session as RootSession } from "@cloudflare/think";
import { runInAgent } from "@cloudflare/think/testing";
import type { UIMessage } from "ai";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { SESSION_LIMITS } from "../src/shared/limits";
import { MemorySessionProvider } from "./memory-session-provider";
import { answer, dialogue, ids, loadWorker, user } from "./worker/messages-agents";
import { onContextAgent } from "./worker/session-context-agents";

beforeAll(loadWorker, 60_000);

const code = (expected: string) => expect.objectContaining({ name: "ThinkError", code: expected });

/** A provider with what is required and nothing else. */
function requiredOnly(): SessionProvider {
  const full = new MemorySessionProvider();
  return {
    getMessage: (id) => full.getMessage(id),
    getHistory: (leafId) => full.getHistory(leafId),
    getLatestLeaf: () => full.getLatestLeaf(),
    getBranches: (id) => full.getBranches(id),
    getPathLength: (leafId) => full.getPathLength(leafId),
    // Says nothing about what was new, as a provider may.
    appendMessage: (message, parentId) => void full.appendMessage(message, parentId),
    updateMessage: (message) => full.updateMessage(message),
    deleteMessages: (gone) => full.deleteMessages(gone),
    clearMessages: () => full.clearMessages(),
    addCompaction: (summary, from, to) => full.addCompaction(summary, from, to),
    getCompactions: () => full.getCompactions()
  };
}

describe("the entry @cloudflare/think/session", () => {
  it("§8.11 has the session, the manager, the providers, the compaction helpers and the heuristics", () => {
    expect(Object.keys(entry).toSorted()).toEqual(
      [
        ...["AgentContextProvider", "AgentSearchProvider", "COMPACTION_PREFIX", "R2SkillProvider", "Session"],
        ...["SessionManager", "alignBoundaryBackward", "alignBoundaryForward", "applyOverlays"],
        ...["buildSummaryPrompt", "computeSummaryBudget", "createCompactFunction", "estimateMessageTokens"],
        ...["estimateMessagesTokens", "estimateStringTokens", "findTailCutByTokens", "isCompactionMessage"],
        ...["sanitizeToolPairs", "truncateOlderMessages"]
      ].toSorted()
    );
    expect(RootSession).toBe(Session);
  });
});

describe("§8.1 a session", () => {
  it("lives in the database of an agent, and the next object over it reads what it wrote", () =>
    onContextAgent(async ({ agent }) => {
      await Session.create(agent).appendMessages(dialogue(4));
      const next = Session.create(agent);
      expect(next.getHistory()).toEqual(dialogue(4));
      expect(next.getLatestLeaf()).toEqual(dialogue(4)[3]);
    }));

  it("needs no more of its host than the sql tag", () =>
    onContextAgent(async ({ tag }) => {
      const session = Session.create(tag).withContext("memory").withCachedPrompt();
      await session.appendMessages(dialogue(70));
      await session.replaceContextBlock("memory", "likes tea");
      expect(Session.create(tag).getHistory()).toEqual(dialogue(70));
      expect(await Session.create(tag).withContext("memory").freezeSystemPrompt()).toContain("likes tea");
    }));

  it("has transactions with ctx beside the tag: a list that is refused leaves nothing", () =>
    runInAgent(env.BareAgent.getByName("tag-and-ctx"), async (_agent, ctx) => {
      const host = {
        ctx,
        sql: <Row>(strings: TemplateStringsArray, ...values: (string | number | boolean | null)[]) =>
          ctx.storage.sql.exec(strings.join("?"), ...values).toArray() as unknown[] as Row[]
      };
      const url = `data:image/png;base64,${"A".repeat(2_000_000)}`;
      const large: UIMessage = {
        ...{ id: "large", role: "user", parts: [{ type: "file", mediaType: "image/png", url }] }
      };
      const session = Session.create(host);
      await expect(session.appendMessages([user("a"), large])).rejects.toThrow(code("message-too-large"));
      expect(session.getHistory()).toEqual([]);
      expect(Session.create(host).getMessage("a")).toBeNull();
    }));

  it("tells a host that can broadcast how full it is, after each public write", () =>
    onContextAgent(async ({ tag }) => {
      const frames: unknown[] = [];
      const host: SessionHost = { sql: tag.sql, broadcast: (frame) => void frames.push(JSON.parse(frame)) };
      const session = Session.create(host)
        .onCompaction(() => null)
        .compactAfter(10_000);
      await session.appendMessage(user("a"));
      await session.updateMessage(user("a", "longer than before"));
      await session.deleteMessages(["a"]);
      await session.clearMessages();
      const idle = { type: "cf_agent_session", phase: "idle", tokenThreshold: 10_000 };
      expect(frames).toEqual([1, 2, 3, 4].map(() => expect.objectContaining(idle)));
      expect(frames).toHaveLength(4);
    }));

  it.each([undefined, null, 7, "agent", {}, { sql: "no function" }])(
    "is refused without storage: %j",
    (host) => {
      expect(() => Session.create(host as unknown as SessionHost)).toThrow(code("invalid-session"));
      expect(() => new Session(host as unknown as SessionProvider)).toThrow(code("invalid-session"));
    }
  );

  it("trap 39 the place of forSession in the chain does not matter, and each session has blocks and prompt of its own", () =>
    onContextAgent(async ({ agent, rows }) => {
      const first = Session.create(agent).forSession("work").withContext("memory").withCachedPrompt();
      const last = Session.create(agent).withCachedPrompt().withContext("memory").forSession("home");
      const primary = Session.create(agent).withContext("memory").withCachedPrompt();
      for (const [session, text] of [
        [first, "work"],
        [last, "home"],
        [primary, "none"]
      ] as const) {
        await session.replaceContextBlock("memory", text);
        await session.refreshSystemPrompt();
      }
      const stored = rows("SELECT label FROM cf_agents_context_blocks ORDER BY label");
      expect(stored.map(({ label }) => label)).toEqual([
        ...["_system_prompt", "_system_prompt_home", "_system_prompt_work"],
        ...["memory", "memory_home", "memory_work"]
      ]);
      expect(
        await Session.create(agent).forSession("home").withCachedPrompt().freezeSystemPrompt()
      ).toContain("home");
    }));

  it("is configured before its first use, not later, and refuses settings that mean nothing", () =>
    onContextAgent(async ({ agent }) => {
      const session = Session.create(agent);
      expect(() => session.compactAfter(0)).toThrow(code("invalid-session"));
      expect(() => session.forSession("x".repeat(SESSION_LIMITS.idChars + 1))).toThrow(
        code("invalid-session")
      );
      session.getHistory();
      for (const late of [
        () => session.withContext("memory"),
        () => session.forSession("work"),
        () => session.onCompaction(() => null),
        () => session.withCachedPrompt()
      ])
        expect(late).toThrow(code("invalid-session"));
    }));

  it("§11.11 the same message id in two sessions is two messages", () =>
    onContextAgent(async ({ agent }) => {
      const [work, home] = ["work", "home"].map((id) => Session.create(agent).forSession(id));
      await work!.appendMessage(user("m", "at work"));
      await home!.appendMessage(user("m", "at home"));
      await home!.updateMessage(user("m", "still at home"));
      expect(work!.getMessage("m")).toEqual(user("m", "at work"));
      expect(Session.create(agent).forSession("home").getHistory()).toEqual([user("m", "still at home")]);
      await work!.clearMessages();
      expect(home!.getHistory()).toHaveLength(1);
      expect(Session.create(agent).getHistory()).toEqual([]);
    }));
});

describe("a provider of one's own", () => {
  it("§8.1 gets context blocks, a prompt store, a counter and an error handler by options", async () => {
    const stored: string[] = [];
    const session = new Session(new MemorySessionProvider(), {
      context: [{ label: "soul", provider: { get: () => "You are kind." } }],
      promptStore: { get: () => stored.at(-1) ?? null, set: (text) => void stored.push(text) },
      tokenCounter: ({ messages, systemPrompt, contextBlocks }) =>
        messages.length + contextBlocks.length + (systemPrompt === "" ? 0 : 10)
    });
    await session.appendMessages(dialogue(3));
    expect(await session.freezeSystemPrompt()).toContain("You are kind.");
    expect(stored).toHaveLength(1);
    expect(await session.estimateTokens()).toBe(14);
  });

  it("§8.1 has no durable blocks: a block without a provider is refused", async () => {
    const session = new Session(new MemorySessionProvider());
    await expect(session.addContext("notes")).rejects.toThrow(/provider/);
    expect(() => Session.create(new MemorySessionProvider()).forSession("x")).toThrow(
      code("invalid-session")
    );
  });

  it("§8.4 without getRecentHistory is read whole, with its true size and one warning", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const session = Session.create(requiredOnly());
    await session.appendMessages(dialogue(3));
    const bytes = dialogue(3).reduce((sum, message) => sum + JSON.stringify(message).length, 0);
    for (let call = 0; call < 2; call += 1)
      expect(session.getRecentHistory(1)).toEqual({
        ...{ messages: dialogue(3), truncated: false, totalContentBytes: bytes }
      });
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it("without the other optional methods has no sizes, no search and no undo, and appends chains all the same", async () => {
    const session = Session.create(requiredOnly());
    await session.appendMessages(dialogue(3));
    await session.appendMessages([user("x"), answer("y")], "m0");
    expect(ids(session.getHistory())).toEqual(["m0", "x", "y"]);
    expect(session.getHistoryRowStats()).toBeNull();
    expect(() => session.search("x")).toThrow(code("invalid-session"));
    const compacting = Session.create(requiredOnly()).onCompaction(() => ({
      ...{ fromMessageId: "m0", toMessageId: "m1", summary: "begin" }
    }));
    await compacting.appendMessages(dialogue(3));
    expect(await compacting.compact()).toMatchObject({ summary: "begin" });
    expect(compacting.getHistory()).toHaveLength(2);
    const [stored] = compacting.getCompactions();
    expect(await compacting.deleteCompaction(stored!.id)).toBe(false);
    expect(compacting.getHistory()).toHaveLength(2);
  });
});

describe("§8.3 writes", () => {
  it.each([
    [null],
    [{ role: "user", parts: [] }],
    [{ id: "", role: "user", parts: [] }],
    [{ id: "x".repeat(201), role: "user", parts: [] }],
    [{ id: "m", parts: [] }],
    [{ id: "m", role: "user" }],
    [{ id: "m", role: "user", parts: "text" }],
    [{ id: "m", role: "user", parts: [{ text: "no type" }] }]
  ])("that are no messages are refused, and nothing of their list is stored: %j", (bad) =>
    onContextAgent(async ({ agent }) => {
      const session = Session.create(agent);
      const message = bad as never;
      await expect(session.appendMessages([user("good"), message])).rejects.toThrow(code("invalid-message"));
      await expect(session.updateMessage(message)).rejects.toThrow(code("invalid-message"));
      expect(Session.create(agent).getHistory()).toEqual([]);
    })
  );

  it("that do not fit a row are refused with all that came with them", () =>
    onContextAgent(async ({ agent, rows }) => {
      const session = Session.create(agent);
      await session.appendMessage(user("before"));
      const file = {
        type: "file" as const,
        mediaType: "image/png",
        url: `data:image/png;base64,${"A".repeat(2_000_000)}`
      };
      const large = { ...user("large"), parts: [file] };
      await expect(session.appendMessages([user("with it"), large])).rejects.toThrow(
        code("message-too-large")
      );
      expect(ids(session.getHistory())).toEqual(["before"]);
      expect(rows("SELECT id FROM assistant_messages")).toEqual([{ id: "before" }]);
      await session.appendMessage(answer("after"));
      expect(ids(session.getHistory())).toEqual(["before", "after"]);
    }));

  it("an equal update writes nothing, and a message without parts is a message", () =>
    onContextAgent(async ({ agent, cost }) => {
      const session = Session.create(agent);
      await session.appendMessages([...dialogue(2), { id: "empty", role: "assistant", parts: [] }]);
      const { totalWritten } = await cost(() => session.updateMessage(dialogue(2)[1]!));
      expect(totalWritten).toBe(0);
      expect(Session.create(agent).getHistory()).toHaveLength(3);
    }));

  it("§8.3 clear forgets loaded skills and reads the prompt anew", () =>
    onContextAgent(async ({ agent }) => {
      let soul = "first";
      const skills = { get: () => "- tea", load: () => "Boil water." };
      const session = Session.create(agent)
        .withContext("soul", { provider: { get: () => soul } })
        .withContext("skills", { provider: skills });
      expect(await session.freezeSystemPrompt()).toContain("first");
      const part = { type: "tool-load_context", toolCallId: "c1", state: "output-available" };
      const loaded = { ...part, input: { label: "skills", key: "tea" }, output: "Boil water." };
      await session.appendMessage({ id: "a", role: "assistant", parts: [loaded as never] });
      await session.tools();
      expect([...session.getLoadedSkillKeys()]).toEqual(["skills:tea"]);
      soul = "second";
      await session.clearMessages();
      expect([...session.getLoadedSkillKeys()]).toEqual([]);
      expect(await session.freezeSystemPrompt()).toContain("second");
    }));
});

describe("§8.4 reads", () => {
  it("trap 38 rows that are no messages drop only themselves, wherever they are", () =>
    onContextAgent(async ({ agent, rows }) => {
      await Session.create(agent).appendMessages(dialogue(6));
      const spoil = (id: string, content: string) =>
        rows("UPDATE assistant_messages SET content = ? WHERE id = ?", content, id);
      spoil("m1", "{broken");
      spoil("m3", `{"id":"m3","role":"assistant"}`);
      spoil("m4", "null");
      const session = Session.create(agent);
      expect(ids(session.getHistory())).toEqual(["m0", "m2", "m5"]);
      expect(session.getMessage("m3")).toBeNull();
      expect(session.getPathLength()).toBe(6);
      // The oldest row of the window is a broken one.
      expect(ids(session.getRecentHistory(0, 3).messages)).toEqual(["m5"]);
      expect(ids(session.getRecentHistory(0, 5).messages)).toEqual(["m2", "m5"]);
      expect(session.getRecentHistory(1_000_000)).toMatchObject({ truncated: false });
      expect(session.getHistoryRowStats()?.map(({ id }) => id)).toEqual(["m0", "m1", "m2", "m3", "m4", "m5"]);
      await session.appendMessage(user("next"));
      expect(ids(Session.create(agent).getHistory())).toEqual(["m0", "m2", "m5", "next"]);
    }));

  it("trap 38 a broken leaf ends no conversation", () =>
    onContextAgent(async ({ agent, rows }) => {
      await Session.create(agent).appendMessages(dialogue(3));
      rows("UPDATE assistant_messages SET content = 'x' WHERE id = 'm2'");
      const session = Session.create(agent);
      expect(ids(session.getHistory())).toEqual(["m0", "m1"]);
      await session.appendMessage(user("next"));
      expect(ids(Session.create(agent).getHistory())).toEqual(["m0", "m1", "next"]);
    }));
});

describe("§8.13 search", () => {
  const found = (session: Session, query: string) =>
    session
      .search(query)
      .map(({ id }) => id)
      .toSorted();

  it("wants every word, in any order and form, and a phrase is a hit", () =>
    onContextAgent(async ({ agent }) => {
      const session = Session.create(agent);
      await session.appendMessages([
        user("a", "The quick brown fox jumps"),
        answer("b", "A brown dog; the fox was quick."),
        user("c", "Über den Wolken — 日本語 の テスト")
      ]);
      expect(found(session, "quick brown fox")).toEqual(["a", "b"]);
      expect(found(session, "jumping")).toEqual(["a"]);
      expect(found(session, "QUICK dog")).toEqual(["b"]);
      expect(found(session, "über")).toEqual(["c"]);
      expect(found(session, "日本語")).toEqual(["c"]);
      expect(session.search("jumps")[0]).toMatchObject({
        ...{ id: "a", role: "user", content: "The quick brown fox jumps", sessionId: "" },
        createdAt: expect.any(Date)
      });
      expect(session.search("brown", { limit: 1 })).toHaveLength(1);
    }));

  it.each([
    [
      "",
      "   ",
      '"',
      '""',
      "'",
      "*",
      "()",
      "-",
      "^",
      "\0",
      "AND",
      "a AND",
      "NOT fox",
      "fox*",
      "text:fox",
      "{a b}:c"
    ],
    [
      "NEAR(fox dog)",
      'fox" OR "dog',
      "fox) OR (dog",
      "'; DROP TABLE assistant_messages; --",
      "\ud800",
      "x".repeat(5_000)
    ],
    ["fox ".repeat(500), "�", "a:b:c", "col : fox", "+fox", "fox OR dog"]
  ])("has no query that harms or fails: %j …", (...queries) =>
    onContextAgent(async ({ agent }) => {
      const session = Session.create(agent);
      await session.appendMessages([user("a", "fox and or"), answer("b", "dog")]);
      for (const query of queries)
        for (const { id } of session.search(query)) expect(["a", "b"]).toContain(id);
      expect(found(session, "fox OR dog")).toEqual([]);
      for (const limit of [0, -1, Number.NaN]) expect(session.search("fox", { limit })).toEqual([]);
      expect(session.search("fox", { limit: 1.5 })).toHaveLength(1);
      expect(session.search("fox", { limit: Infinity })).toHaveLength(1);
      for (const query of [undefined, null, 7, {}]) expect(session.search(query as never)).toEqual([]);
      expect(session.getHistory()).toHaveLength(2);
    })
  );

  it("finds only messages of its own session", () =>
    onContextAgent(async ({ agent }) => {
      const [work, home] = ["work", "home"].map((id) => Session.create(agent).forSession(id));
      await work!.appendMessage(user("m", "fox at work"));
      await home!.appendMessage(user("m", "fox at home"));
      expect(work!.search("fox")).toMatchObject([{ content: "fox at work", sessionId: "work" }]);
      expect(home!.search("fox")).toMatchObject([{ content: "fox at home", sessionId: "home" }]);
      await work!.clearMessages();
      expect(work!.search("fox")).toEqual([]);
      expect(found(home!, "fox")).toEqual(["m"]);
    }));

  it("costs nothing before the first one: no table, and one row per message; afterwards the index follows", () =>
    onContextAgent(async ({ agent, rows, cost }) => {
      const session = Session.create(agent);
      await session.appendMessages(dialogue(3));
      const written = (id: string) => cost(() => session.appendMessage(user(id, "fox")));
      expect((await written("before")).totalWritten).toBe(2);
      expect(rows("SELECT name FROM sqlite_master WHERE name LIKE 'assistant_fts%'")).toEqual([]);
      expect(found(session, "fox")).toEqual(["before"]);
      await written("after");
      expect(found(session, "fox")).toEqual(["after", "before"]);
      expect(found(Session.create(agent), "fox")).toEqual(["after", "before"]);
    }));

  it("§11.10 an update of an unknown id leaves nothing in the index", () =>
    onContextAgent(async ({ agent, rows }) => {
      const session = Session.create(agent);
      await session.appendMessage(user("a", "fox"));
      expect(found(session, "fox")).toEqual(["a"]);
      await session.updateMessage(answer("nobody", "fox"));
      expect(rows("SELECT id FROM assistant_fts")).toEqual([{ id: "a" }]);
    }));
});

describe("what a session costs", () => {
  it("is two rows written per message and one read, and two more written for a fork; a search elsewhere adds one read", () =>
    onContextAgent(async ({ agent, cost }) => {
      const session = Session.create(agent);
      await session.appendMessages(dialogue(40));
      const figures = async (work: () => unknown) => {
        const { totalRead, totalWritten } = await cost(work);
        return { read: totalRead, written: totalWritten };
      };
      expect(await figures(() => session.appendMessage(user("q")))).toEqual({ read: 1, written: 2 });
      await session.appendMessage(answer("a"));
      // The first fork makes the table.
      await session.appendMessage(answer("b"), "q");
      const fork = await figures(() => session.appendMessage(answer("c"), "q"));
      expect(fork.written).toBe(4);
      expect(fork.read).toBeLessThanOrEqual(4);
      expect(await figures(() => session.getHistory())).toEqual({ read: 0, written: 0 });
      await Session.create(agent).forSession("other").appendMessage(user("x", "fox"));
      Session.create(agent).forSession("other").search("fox");
      const { read, written } = await figures(() => session.appendMessage(user("r")));
      expect(read).toBeLessThanOrEqual(2);
      expect(written).toBe(2);
    }));

  it("of a first use is the layout version, the pointer and the path", () =>
    onContextAgent(async ({ agent, cost }) => {
      await Session.create(agent).appendMessages(dialogue(60));
      const { totalRead, totalWritten } = await cost(() => Session.create(agent).getHistory());
      expect(totalRead).toBeLessThanOrEqual(60 + 60 / 30 + 4);
      expect(totalWritten).toBe(0);
    }));
});
