import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { AgentContextProvider } from "../src/session/context/agent-context-provider";
import { AgentSearchProvider } from "../src/session/context/agent-search-provider";
import { ContextBlocks } from "../src/session/context/context-blocks";
import { deleteContextRows } from "../src/session/context/context-rows";
import { R2SkillProvider } from "../src/session/context/r2-skill-provider";
import { hostSql } from "../src/storage/host-sql";
import { onContextAgent } from "./worker/session-context-agents";

beforeAll(() => onContextAgent(async () => undefined), 60_000);

const history = { loadResults: () => [], rewrite: () => undefined };

describe("§8.9 AgentContextProvider", () => {
  it("makes its table with the first write, and writes one row only when the content changes", () =>
    onContextAgent(async ({ agent, cost, rows }) => {
      const provider = new AgentContextProvider(agent, "memory");
      expect(await provider.get()).toBeNull();
      expect(rows("SELECT name FROM sqlite_master WHERE name = 'cf_agents_context_blocks'")).toEqual([]);
      await provider.set("one");
      expect((await cost(() => provider.set("one"))).totalWritten).toBe(0);
      expect((await cost(() => provider.set("two"))).totalWritten).toBe(1);
      expect(await new AgentContextProvider(agent, "memory").get()).toBe("two");
    }));

  it("works through the sql tag alone, and is named by its block", () =>
    onContextAgent(async ({ agent, tag }) => {
      const provider = new AgentContextProvider(tag);
      await expect(provider.get()).rejects.toThrow("no key");
      provider.init("notes");
      await provider.set("it's ?1");
      expect(await new AgentContextProvider(agent, "notes").get()).toBe("it's ?1");
    }));

  it("keeps a prompt across restarts, and a warm freeze writes nothing", () =>
    onContextAgent(async ({ agent, cost, rows }) => {
      const life = () =>
        new ContextBlocks({
          history,
          blocks: [{ label: "memory", config: { maxTokens: 100 } }],
          defaultProvider: (label) => new AgentContextProvider(agent, label),
          promptStore: new AgentContextProvider(agent, "_system_prompt")
        });
      const first = life();
      const prompt = await first.freezeSystemPrompt();
      await first.replaceContextBlock("memory", "a fact");
      const next = life();
      expect((await cost(() => next.freezeSystemPrompt())).totalWritten).toBe(0);
      expect(await next.freezeSystemPrompt()).toBe(prompt);
      expect(await next.refreshSystemPrompt()).toContain("a fact");
      expect((await cost(() => next.refreshSystemPrompt())).totalWritten).toBe(0);
      expect(rows("SELECT label FROM cf_agents_context_blocks ORDER BY label")).toEqual([
        { label: "_system_prompt" },
        { label: "memory" }
      ]);
    }));
});

describe("§8.9 AgentSearchProvider", () => {
  it("finds all words in any order, porter-stemmed, whatever signs the query has", () =>
    onContextAgent(async ({ agent }) => {
      const provider = new AgentSearchProvider(agent, "docs");
      expect([await provider.get(), await provider.search("x")]).toEqual([null, null]);
      await provider.set("deploy", "Deploying Workers with wrangler");
      await provider.set("queues", "Queues deliver messages");
      expect(await provider.get()).toBe("2 entries indexed.");
      expect(await provider.search("worker DEPLOY")).toBe("[deploy]\nDeploying Workers with wrangler");
      expect(await provider.search("workers queues")).toBeNull();
      for (const query of ['"', "AND", "* - (", "wrangler NEAR(", "label:docs", "\0", "-", ""]) {
        expect(await provider.search(query)).toBeNull();
      }
      expect(await provider.search("wrangler -")).toContain("[deploy]");
    }));

  it("replaces the index row with the entry, keeps labels apart, and shows ten results", () =>
    onContextAgent(async ({ agent, cost }) => {
      const docs = new AgentSearchProvider(agent, "docs");
      const other = new AgentSearchProvider(agent, "other");
      await docs.set("a", "apple");
      await other.set("a", "apple pie");
      await docs.set("a", "banana");
      expect([await docs.search("apple"), await other.search("apple")]).toEqual([null, "[a]\napple pie"]);
      expect((await cost(() => docs.set("a", "banana"))).totalWritten).toBe(0);
      for (let index = 0; index < 12; index += 1) await docs.set(`k${index}`, "cherry");
      expect((await docs.search("cherry"))?.match(/^\[k/gm)).toHaveLength(10);
      expect(await docs.get()).toBe("13 entries indexed.");
      expect(await new AgentSearchProvider(agent, "docs").get()).toBe("13 entries indexed.");
    }));

  it("replacing an entry among many reads a few rows, not the table", () =>
    onContextAgent(async ({ agent, cost }) => {
      const docs = new AgentSearchProvider(agent, "docs");
      for (let index = 0; index < 300; index += 1) await docs.set(`k${index}`, `text ${index}`);
      const counts = await cost(() => docs.set("k7", "another text"));
      expect(counts.totalRead).toBeLessThan(60);
      expect(counts.totalWritten).toBeLessThan(12);
    }));

  it("no statement scans the entries", () =>
    onContextAgent(async ({ agent, cost, rows }) => {
      const { bySql } = await cost(async () => {
        const docs = new AgentSearchProvider(agent, "docs");
        await docs.set("a", "apple");
        await docs.set("a", "banana");
        await docs.search("banana");
        await docs.get();
        deleteContextRows(hostSql(agent), ["docs"]);
      });
      const statements = bySql
        .map(({ sql }) => sql)
        .filter((sql) => /^(SELECT|UPDATE|DELETE)/.test(sql) && sql.includes("cf_agents_search_entries"))
        .filter((sql) => !sql.includes("sqlite_master"));
      expect(statements.length).toBeGreaterThanOrEqual(5);
      for (const statement of statements) {
        const bindings = Array.from({ length: statement.split("?").length - 1 }, () => 1);
        const plan = rows(`EXPLAIN QUERY PLAN ${statement}`, ...bindings).map(({ detail }) => String(detail));
        const scans = plan.filter((detail) => /^SCAN (e|cf_agents_search_entries)\b/.test(detail));
        expect({ statement, scans }).toEqual({ statement, scans: [] });
      }
    }));

  it("takes over an index that the published package made", () =>
    onContextAgent(async ({ agent, rows }) => {
      rows(
        "CREATE TABLE cf_agents_search_entries (label TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (label, key))"
      );
      rows(
        "CREATE VIRTUAL TABLE cf_agents_search_fts USING fts5(label UNINDEXED, key UNINDEXED, content, tokenize='porter unicode61')"
      );
      rows("INSERT INTO cf_agents_search_entries VALUES ('docs', 'old', 'apple')");
      const docs = new AgentSearchProvider(agent, "docs");
      expect(await docs.search("apples")).toBe("[old]\napple");
      await docs.set("old", "banana");
      expect([await docs.search("apple"), await docs.search("banana")]).toEqual([null, "[old]\nbanana"]);
    }));
});

describe("§8.14 deleting a session's rows", () => {
  it("removes those keys from blocks and search, and makes no table for it", () =>
    onContextAgent(async ({ agent, rows }) => {
      const sql = hostSql(agent);
      deleteContextRows(sql, ["memory_s1"]);
      expect(rows("SELECT name FROM sqlite_master WHERE name LIKE 'cf_agents_search%'")).toEqual([]);
      for (const key of ["memory_s1", "memory_s2"]) {
        await new AgentContextProvider(agent, key).set(key);
        await new AgentSearchProvider(agent, key).set("k", "apple");
      }
      deleteContextRows(sql, ["memory_s1", "nothing"]);
      expect(rows("SELECT label FROM cf_agents_context_blocks")).toEqual([{ label: "memory_s2" }]);
      expect(await new AgentSearchProvider(agent, "memory_s1").search("apple")).toBeNull();
      expect(await new AgentSearchProvider(agent, "memory_s2").search("apple")).toBe("[k]\napple");
    }));
});

describe("§8.9 R2SkillProvider on a real bucket", () => {
  it("lists with descriptions relative to the prefix, loads, and filters both but not writes", async () => {
    const all = new R2SkillProvider(env.SKILLS, { prefix: "skills/" });
    expect(await all.get()).toBeNull();
    await all.set("review", "How to review", "Reviewing\ncode");
    await all.set("plain", "Plain text");
    await env.SKILLS.put("elsewhere", "x");
    expect(await all.get()).toBe("- plain\n- review: Reviewing code");
    expect(await all.load("review")).toBe("How to review");
    expect(await all.load("missing")).toBeNull();
    const some = new R2SkillProvider(env.SKILLS, { prefix: "skills/", keys: ["plain"] });
    expect(await some.get()).toBe("- plain");
    expect([await some.load("review"), await some.load("plain")]).toEqual([null, "Plain text"]);
    await some.set("new", "Written anyway");
    expect(await all.load("new")).toBe("Written anyway");
    expect(await new R2SkillProvider(env.SKILLS, { prefix: "skills/", keys: [] }).get()).toContain("- new");
  });
});
