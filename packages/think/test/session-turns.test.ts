/** How the agent uses its session: durability.md §8.15, §8.5–8.8, §8.10, §2.1. */
import type { UIMessage } from "ai";
import { evict, toolCall, userMessage } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { createCompactFunction } from "../src/session/compaction/create-compact-function";
import { newSessions, said, shows } from "./session-support";
import { answer, dialogue, ids, user } from "./worker/messages-agents";

describe("§8.15 messages", () => {
  it("follow every write of the session, and storage agrees", async () => {
    const { on, stub } = newSessions([]);
    const seen = (work: (agent: Parameters<Parameters<typeof on>[0]>[0]) => unknown) =>
      on(async (agent) => {
        await work(agent);
        return agent.messages.map(
          ({ id, parts }) => `${id}:${parts[0]?.type === "text" ? parts[0].text : ""}`
        );
      });
    expect(await seen(({ session }) => session.appendMessage(user("a", "A")))).toEqual(["a:A"]);
    expect(await seen(({ session }) => session.appendMessage(answer("b", "B")))).toEqual(["a:A", "b:B"]);
    // Trap 38: a duplicate keeps the first content, an unknown id does not enter.
    expect(await seen(({ session }) => session.appendMessage(user("a", "again")))).toEqual(["a:A", "b:B"]);
    expect(await seen(({ session }) => session.updateMessage(user("x", "X")))).toEqual(["a:A", "b:B"]);
    expect(await seen(({ session }) => session.updateMessage(answer("b", "B2")))).toEqual(["a:A", "b:B2"]);
    expect(await seen(({ session }) => session.appendMessage(answer("c", "C"), "a"))).toEqual(["a:A", "c:C"]);
    expect(await seen(({ session }) => session.appendMessages(dialogue(3, 1, "d")))).toHaveLength(5);
    expect(await seen(({ session }) => session.deleteMessages(["d0", "d2"]))).toEqual([
      "a:A",
      "c:C",
      "d1:1 "
    ]);
    await evict(stub());
    expect(ids(await stub().getMessages())).toEqual(["a", "c", "d1"]);
    expect(await seen(({ session }) => session.appendMessage(user("root", "R"), null))).toEqual(["root:R"]);
    expect(await seen(({ session }) => session.clearMessages())).toEqual([]);
    await evict(stub());
    expect(await stub().getMessages()).toEqual([]);
  });

  it("are a copy from getMessages(): changing it changes nothing", async () => {
    const { on } = newSessions([]);
    const left = await on(async (agent) => {
      await agent.session.appendMessage(user("a", "A"));
      const copy = await agent.getMessages();
      copy[0]?.parts.push({ type: "text", text: "intruder" });
      copy.pop();
      return said(agent.messages);
    });
    expect(left).toEqual(["A"]);
  });

  it("come in sanitised and fit their row by the protected helpers too", async () => {
    const { on, stub, rows } = newSessions([]);
    const large: UIMessage = {
      ...answer("big"),
      parts: [
        { type: "reasoning", text: "", state: "done" },
        { type: "text", text: "x".repeat(2_500_000) }
      ]
    };
    const stored = await on(async (agent) => {
      await agent.append(user("a", "A"));
      await agent.append(large);
      await agent.append(answer("side", "S"), "a");
      await agent.append(large, null);
      const updated = await agent.update({ ...answer("side", "S2") });
      return { updated, unknown: await agent.update(user("nobody")), list: ids(agent.messages) };
    });
    expect(stored).toMatchObject({ updated: { id: "side" }, unknown: { id: "nobody" }, list: ["a", "side"] });
    const [row] = await rows(
      "SELECT octet_length(content) AS n, content FROM assistant_messages WHERE id = 'big'"
    );
    expect(Number(row?.n)).toBeLessThan(1_900_000);
    expect(JSON.stringify(row?.content)).not.toContain("reasoning");
    expect(ids(await on((agent) => agent.sync()))).toEqual(["a", "side"]);
    await evict(stub());
    expect(ids(await stub().getMessages())).toEqual(["a", "side"]);
  });
});

describe("§2.1 configureSession", () => {
  it("may be async and use configure() on the very first start", async () => {
    const { stub, on, model } = newSessions(["ok"], {
      async configure(session, agent) {
        agent.configure({ tone: "dry" });
        await Promise.resolve();
        return session.withContext("soul", { provider: { get: async () => "You are dry." } });
      }
    });
    await stub().saveMessages([userMessage("Hi")]);
    expect(model.calls[0]?.system).toContain("You are dry.");
    expect(model.calls[0]?.system).not.toContain("The author's prompt.");
    expect(await on((agent) => agent.getConfig())).toEqual({ tone: "dry" });
  });

  it("that throws, or returns another session, leaves an agent that answers, and says so in each life", async () => {
    const { stub, events, model } = newSessions(["one", "two"], {
      configure: (session) => {
        session.withContext("soul", { provider: { get: async () => "Half configured." } });
        throw new Error("no such bucket");
      }
    });
    await stub().saveMessages([userMessage("Hi")]);
    expect(await stub().degradations()).toEqual(["session-configuration"]);
    expect(events("chat:onstart:degraded")).toEqual([
      { step: "session-configuration", error: "no such bucket" }
    ]);
    await evict(stub());
    await stub().saveMessages([userMessage("Again")]);
    expect(await stub().degradations()).toEqual(["session-configuration"]);
    expect(said(await stub().getMessages())).toEqual(["Hi", "one", "Again", "two"]);
    expect(model.calls.every(({ system }) => system.includes("Half configured."))).toBe(true);
  });

  it("without blocks leaves the prompt to the author", async () => {
    const { stub, model } = newSessions(["ok"]);
    await stub().saveMessages([userMessage("Hi")]);
    expect(model.calls[0]?.system).toContain("The author's prompt.");
  });
});

describe("§8.5–8.7 context blocks in turns", () => {
  it("make a prompt that is the same, byte for byte, across turns, writes and restarts", async () => {
    const write = toolCall("set_context", { label: "memory", content: "Likes tea." });
    const { stub, model, on, rows } = newSessions(["one", [write], "done", "two", "three"], {
      configure: (session) =>
        session
          .withContext("soul", { provider: { get: async () => "You are kind." } })
          .withContext("memory", { description: "Facts", maxTokens: 100 })
          .withCachedPrompt()
    });
    await stub().saveMessages([userMessage("1")]);
    await stub().saveMessages([userMessage("2")]);
    expect(await on((agent) => agent.session.getContextBlock("memory")?.content)).toBe("Likes tea.");
    await stub().saveMessages([userMessage("3")]);
    await evict(stub());
    await stub().saveMessages([userMessage("4")]);
    const prefixes = new Set(model.calls.map(({ system, tools }) => JSON.stringify([system, tools])));
    expect([model.calls.length, prefixes.size]).toEqual([5, 1]);
    expect(model.calls[0]?.toolNames).toContain("set_context");
    expect(await rows("SELECT label, content FROM cf_agents_context_blocks WHERE label = 'memory'")).toEqual([
      { label: "memory", content: "Likes tea." }
    ]);
    expect(await on((agent) => agent.session.refreshSystemPrompt())).toContain("Likes tea.");
  });

  it("§8.8 are loaded and unloaded by the model; what is loaded belongs to the path and outlives an eviction", async () => {
    const skills = {
      get: async () => "- tea: How to brew",
      load: async (key: string) => (key === "tea" ? "BREW" : null)
    };
    const call = (name: string) => toolCall(name, { label: "skills", key: "tea" });
    const { stub, on, connect } = newSessions(
      [[call("load_context")], "loaded", "other", [call("unload_context")], "unloaded"],
      { configure: (session) => session.withContext("skills", { provider: skills }) }
    );
    const loaded = () => on((agent) => [...agent.session.getLoadedSkillKeys()]);
    await stub().saveMessages([userMessage("Load", "q")]);
    expect(await loaded()).toEqual(["skills:tea"]);
    await evict(stub());
    expect(await loaded()).toEqual(["skills:tea"]);
    const withSkill = (await stub().getMessages()).at(-1)?.id ?? "";
    // On another branch nothing is loaded.
    const client = await connect();
    await client.chat([userMessage("Load", "q")], { trigger: "regenerate-message" }).done;
    expect(await loaded()).toEqual([]);
    await stub().switchBranch(withSkill);
    expect(await loaded()).toEqual(["skills:tea"]);
    await stub().saveMessages([userMessage("Unload")]);
    expect(await loaded()).toEqual([]);
    expect(JSON.stringify(await stub().getMessages())).toContain("[skill unloaded: tea]");
    expect(JSON.stringify(await stub().getMessages())).not.toContain("BREW");
  });

  it("§8.7 are searched by the model, and an error of a block is text for it", async () => {
    const asked: string[] = [];
    const search = {
      get: async () => "2 entries",
      search: async (query: string) => {
        asked.push(query);
        if (query === "broken") throw new Error("index is gone");
        return "[a]\nfound";
      }
    };
    const call = (query: string) => toolCall("search_context", { label: "docs", query });
    const { stub } = newSessions([[call("tea")], [call("broken")], "done"], {
      configure: (session) => session.withContext("docs", { provider: search })
    });
    await stub().saveMessages([userMessage("Hi")]);
    const stored = JSON.stringify(await stub().getMessages());
    expect(asked).toEqual(["tea", "broken"]);
    expect(stored).toContain("found");
    expect(stored).toContain("index is gone");
    expect(stored).not.toContain("output-error");
  });
});

describe("§8.10 compaction in an agent", () => {
  const compacting = (script: string[], summarize: () => string) =>
    newSessions(script, {
      configure: (session) =>
        session
          .onCompaction(
            createCompactFunction({ summarize, protectHead: 1, tailTokenBudget: 10, minTailMessages: 2 })
          )
          .compactAfter(200)
    });
  const long = (word: string) => `${word} `.repeat(60);

  it("happens before a turn that would be too long, is reported, shown, kept and can be undone", async () => {
    const { stub, connect, events, model, on } = compacting(
      ["one", "two", "three", "four", "five"],
      () => "SUMMARY"
    );
    const client = await connect();
    for (const word of ["alpha", "beta", "gamma"]) await stub().saveMessages([userMessage(long(word))]);
    const [event] = events("chat:context:compacted");
    expect(event).toMatchObject({ reason: "auto", shortened: true, compactionId: expect.any(String) });
    expect((event as { tokensAfter: number }).tokensAfter).toBeLessThan(
      (event as { tokensBefore: number }).tokensBefore
    );
    const last = JSON.stringify(model.calls.at(-1)?.prompt);
    expect([last.includes("SUMMARY"), last.includes("beta beta")]).toEqual([true, false]);
    expect(said(await stub().getMessages())).toContain("SUMMARY");
    expect(client.frames.map(({ type, phase }) => (type === "cf_agent_session" ? phase : null))).toContain(
      "compacting"
    );
    await evict(stub());
    expect(said(await stub().getMessages())).toContain("SUMMARY");
    const { path } = await stub().getMessageCount();
    expect(path).toBe(6);
    await on(async ({ session }) => {
      for (const { id } of session.getCompactions()) await session.deleteCompaction(id);
    });
    expect((await stub().getMessages()).length).toBe(6);
  });

  it("that fails fails no turn and is told to clients", async () => {
    const { stub, connect } = compacting(["one", "two", "three"], () => {
      throw new Error("summariser down");
    });
    const client = await connect();
    for (const word of ["alpha", "beta", "gamma"]) await stub().saveMessages([userMessage(long(word))]);
    await client.waitFor((frame) => frame.type === "cf_agent_session_error");
    expect((await stub().getMessages()).length).toBe(6);
  });

  it("on demand is reported too, and a client that still shows the old messages loses nothing", async () => {
    const { stub, connect, events, on } = compacting(["one", "two", "three"], () => "SUMMARY");
    await on((agent) => agent.session.appendMessages(dialogue(6, 10)));
    const client = await connect();
    const shown = await client.history();
    expect(await on((agent) => agent.session.compact())).toMatchObject({ summary: "SUMMARY" });
    expect(events("chat:context:compacted")).toMatchObject([{ reason: "manual", replaced: 3 }]);
    await client.chat([...shown, userMessage("next", "next")]).done;
    expect(said(await stub().getMessages()).slice(0, 2)).toEqual(["0 xxxxxxxx", "SUMMARY"]);
    expect(await stub().getMessageCount()).toEqual({ path: 8, total: 8 });
  });
});

describe("§8.15 the hydration window", () => {
  it("holds the newest messages, is told once per change, and turns, uploads and pages go on behind it", async () => {
    const { stub, connect, events, on, model } = newSessions(["one", "two"], { hydrationByteBudget: 4_000 });
    await on((agent) => agent.session.appendMessages(dialogue(40, 500)));
    await evict(stub());
    const held = await stub().getMessages();
    expect([held.length > 3, held.length < 10]).toEqual([true, true]);
    expect(events("chat:hydration:windowed")).toEqual([
      { totalContentBytes: expect.any(Number), budgetBytes: 4_000, hydratedMessages: held.length }
    ]);
    const client = await connect();
    await shows(client, said(held));
    const whole = await on(({ session }) => session.getHistory());
    expect(whole.length).toBe(40);
    await client.chat([...whole, userMessage("with everything", "u")]).done;
    expect(await stub().getMessageCount()).toEqual({ path: 42, total: 42 });
    expect(model.calls[0]?.prompt.length).toBeLessThan(15);
    expect(events("chat:hydration:windowed").length).toBe(1);
    expect(await on(({ session }) => session.getRecentHistory(2_000).messages.length)).toBeLessThan(6);
  });

  it("is off for zero, and never holds fewer than four", async () => {
    for (const [budget, expected] of [
      [0, 12],
      [Number.NaN, 12],
      [1, 4]
    ] as const) {
      const { stub, on } = newSessions([], { hydrationByteBudget: budget });
      await on((agent) => agent.session.appendMessages(dialogue(12, 500)));
      await evict(stub());
      expect((await stub().getMessages()).length).toBe(expected);
    }
  });
});
