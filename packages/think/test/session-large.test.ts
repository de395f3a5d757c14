/** Large histories and what they cost: issue 4 "Large histories", performance.md row 4, durability.md §8.15. */
import { countAllRows, countRowsOf, evict, userMessage } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { createCompactFunction } from "../src/session/compaction/create-compact-function";
import { newSessions, said } from "./session-support";
import { dialogue, user } from "./worker/messages-agents";

const MiB = 1024 * 1024;

type Sessions = ReturnType<typeof newSessions>;

/** Writes a conversation of `count` messages of `chars` characters each, by the database itself. Returns its bytes. */
async function store({ on, stub }: Sessions, count: number, chars: number, prefix = "m"): Promise<number> {
  const bytes = await on(async (agent, { storage: { sql } }) => {
    // Makes the tables, and the first message.
    await agent.session.appendMessage(user(`${prefix}0`), null);
    for (let from = 1; from < count; from += 2_000) {
      sql.exec(
        `WITH RECURSIVE n (i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
          INSERT INTO assistant_messages (session_id, id, parent_id, role, created_at, content)
          SELECT '', ?3 || i, ?3 || (i - 1), iif(i % 2, 'assistant', 'user'), i,
            '{"id":"' || ?3 || i || '","role":"' || iif(i % 2, 'assistant', 'user') || '","parts":[{"type":"text","text":"' || ?4 || '"}]}'
          FROM n`,
        ...[from, Math.min(count, from + 2_000), prefix, "x".repeat(chars)]
      );
    }
    const [{ total } = { total: 0 }] = sql
      .exec<{ total: number }>(
        "SELECT sum(octet_length(content)) AS total FROM assistant_messages WHERE session_id = ''"
      )
      .toArray();
    sql.exec(
      "UPDATE assistant_sessions SET leaf_id = ?, path_count = ?, path_bytes = ? WHERE id = ''",
      ...[`${prefix}${count - 1}`, count, total]
    );
    return total;
  });
  await evict(stub());
  return bytes;
}

/** Waits for the one look at old media that rows written behind the agent's back cost; a conversation that grows pays it as it grows. */
async function examined({ stub, rows }: Sessions): Promise<void> {
  await stub().getMessages();
  const done = () => rows("SELECT 1 AS done FROM think_config WHERE key = 'mediaExamined'");
  await expect.poll(done).toEqual([{ done: 1 }]);
}

const sizeOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).byteLength;

/** What a wake by a client costs in the chat's own tables: the base class reads about thirty rows besides. */
async function wakeCost({ stub, connect }: Sessions) {
  const { bySql, totalWritten } = await countAllRows(stub(), async () => {
    await evict(stub());
    await (await connect()).close();
  });
  const own = bySql.filter(({ sql }) => /assistant_|think_config|cf_ai_chat|cf_agents_context/.test(sql));
  const sum = (pick: (cost: (typeof own)[number]) => number) =>
    own.reduce((total, one) => total + pick(one), 0);
  return { read: sum((one) => one.rowsRead), statements: sum((one) => one.statements), totalWritten };
}

describe("row 4: a wake", () => {
  for (const count of [10, 1_000, 5_000]) {
    it(`with ${count} messages reads one row each and few more, in few statements`, async () => {
      const made = newSessions(["ok"]);
      await made.on((agent) => agent.session.appendMessages(dialogue(count - 2, 100)));
      await made.stub().saveMessages([userMessage("Hi")]);
      const { read, statements, totalWritten } = await wakeCost(made);
      expect(read).toBeLessThanOrEqual(count + 10);
      expect(statements).toBeLessThanOrEqual(10);
      expect(totalWritten).toBe(0);
    });
  }

  it("with branches beside the path still reads about one row per message", async () => {
    const made = newSessions(["ok"]);
    await made.on(async (agent) => {
      await agent.session.appendMessages(dialogue(600, 100));
      await agent.session.appendMessages(dialogue(300, 100, "side"), "m299");
    });
    expect((await wakeCost(made)).read).toBeLessThanOrEqual(600 + 40);
  });

  it("with more than fits into memory reads the window only, and a warm turn reads no history", async () => {
    const made = newSessions(["one", "two"], { hydrationByteBudget: 1 * MiB });
    await store(made, 5_000, 2_000);
    await examined(made);
    const { read, statements } = await wakeCost(made);
    const held = (await made.stub().getMessages()).length;
    expect(held).toBeGreaterThan(400);
    expect(held).toBeLessThan(600);
    expect(read).toBeLessThanOrEqual(2 * held + 50);
    expect(statements).toBeLessThanOrEqual(15);
    const client = await made.connect();
    await client.chat("warm").done;
    const warm = await countRowsOf(made.stub(), () => client.chat("again").done);
    expect(warm.totalRead).toBeLessThanOrEqual(10);
    // An insert may touch the neighbour of its key, which is no read of ours.
    const reads = warm.bySql.filter(({ sql }) => /^\s*(SELECT|WITH)\b/.test(sql));
    expect(reads.filter(({ sql, rowsRead }) => sql.includes("assistant_messages") && rowsRead > 0)).toEqual(
      []
    );
  });

  it("with more than fits, compaction and skills look at the window only", async () => {
    const made = newSessions(["one", "two"], {
      hydrationByteBudget: 1 * MiB,
      configure: (session) =>
        session
          .withContext("skills", { provider: { get: async () => "- tea", load: async () => null } })
          .onCompaction(createCompactFunction({ summarize: () => "SUMMARY", tailTokenBudget: 1_000 }))
          .compactAfter(10_000_000)
    });
    await store(made, 5_000, 2_000);
    await examined(made);
    const client = await made.connect();
    await client.chat("warm").done;
    const warm = await countRowsOf(made.stub(), () => client.chat("again").done);
    expect(warm.totalRead).toBeLessThanOrEqual(12);
    const compacting = await countRowsOf(made.stub(), () =>
      made.on(async ({ session }) => expect(await session.compact()).not.toBeNull())
    );
    expect(compacting.totalRead).toBeLessThan(3_000);
    expect(said(await made.stub().getMessages())).toContain("SUMMARY");
    expect((await made.stub().getMessages()).length).toBeLessThan(600);
  });

  it("of one session does not look again at media that it looked at before another was active", async () => {
    const made = newSessions([], { hydrationByteBudget: 1 * MiB });
    const places = () =>
      made.rows("SELECT key FROM think_config WHERE key LIKE 'mediaExamined%' ORDER BY key");
    await store(made, 3_000, 2_000);
    await examined(made);
    const { id } = await made.stub().createSession("B");
    await made.on((agent) => agent.session.appendMessages(dialogue(2_000, 2_000)));
    await evict(made.stub());
    await made.stub().getMessages();
    await expect.poll(places).toEqual([{ key: "mediaExamined" }, { key: `mediaExamined:${id}` }]);
    await made.stub().switchSession("default");
    const held = (await made.stub().getMessages()).length;
    expect((await wakeCost(made)).read).toBeLessThanOrEqual(2 * held + 50);
    await made.stub().deleteSession(id);
    expect(await places()).toEqual([{ key: "mediaExamined" }]);
  });

  it("an append writes the message's row and the session's, however many messages there are", async () => {
    const made = newSessions([]);
    const cost = (work: () => Promise<unknown>) => countRowsOf(made.stub(), work);
    await made.on((agent) => agent.session.appendMessages(dialogue(100, 100)));
    const one = await cost(() => made.stub().addMessages([userMessage("one")]));
    expect(one.totalWritten).toBe(2);
    const many = await cost(() => made.stub().addMessages(dialogue(50, 100, "many")));
    expect(many.totalWritten).toBe(51);
  });
});

describe("200 MB of history", () => {
  it("wakes, answers and pages within what one wake may hold, and nothing bricks the object", async () => {
    const made = newSessions(["answer", "after"]);
    const { stub, on, connect, refusals, events } = made;
    const total = await store(made, 20_000, 10_500);
    expect(total).toBeGreaterThan(200 * MiB);

    await examined(made);
    const cost = await wakeCost(made);
    const held = await on((agent) => ({
      bytes: new TextEncoder().encode(JSON.stringify(agent.messages)).byteLength,
      count: agent.messages.length
    }));
    expect(held.bytes).toBeLessThan(24.5 * MiB);
    expect(held.bytes).toBeGreaterThan(23 * MiB);
    expect(cost.read).toBeLessThanOrEqual(2 * held.count + 50);
    expect(cost.statements).toBeLessThanOrEqual(15);
    expect(events("chat:hydration:windowed").at(-1)).toMatchObject({ totalContentBytes: total });

    const client = await connect();
    await client.waitFor("cf_agent_chat_messages");
    expect(sizeOf(client.frames)).toBeLessThan(25 * MiB);
    const at = client.frames.length;
    const turn = await countRowsOf(stub(), () => client.chat("Still there?").done);
    expect(turn.totalRead).toBeLessThanOrEqual(10);
    expect(sizeOf(client.frames.slice(at))).toBeLessThan(10_000);
    expect((await stub().getMessages()).at(-1)?.role).toBe("assistant");

    let before = (await stub().getMessages())[0]?.id ?? "";
    for (let page = 0; page < 5; page += 1) {
      const older = await stub().getMessagesBefore(before);
      expect(older.length).toBeGreaterThan(50);
      expect(sizeOf(older)).toBeLessThan(1.1 * MiB);
      expect(older.at(-1)?.id).toBe(`m${Number(before.slice(1)) - 1}`);
      before = older[0]?.id ?? "";
    }
    expect(await stub().getMessageCount()).toEqual({ path: 20_002, total: 20_002 });
    expect(await refusals((agent) => agent.getHistory())).toEqual([
      expect.stringContaining("getMessagesBefore()")
    ]);
    expect(said(await stub().getMessagesBefore("m3"))).toHaveLength(3);
  }, 90_000);
});

describe("100,000 messages", () => {
  it("are an ordinary conversation: it wakes, goes on, branches, pages and shrinks", async () => {
    const made = newSessions(["answer", "other"], { hydrationByteBudget: 2 * MiB });
    const { stub, connect } = made;
    await store(made, 100_000, 40);
    const client = await connect();
    await client.chat("Hi").done;
    const held = await stub().getMessages();
    expect(held.length).toBeLessThan(40_000);
    expect(await stub().getMessageCount()).toEqual({ path: 100_002, total: 100_002 });
    expect((await stub().getMessagesBefore("m50000", { maxBytes: 10_000 })).at(-1)?.id).toBe("m49999");
    expect(await stub().deleteMessages(["m40000", "m99999"])).toEqual(["m40000", "m99999"]);
    await stub().setActiveLeaf("m10");
    expect((await stub().getMessages()).length).toBe(11);
    await evict(stub());
    expect((await stub().getMessages()).at(-1)?.id).toBe("m10");
  }, 90_000);
});

describe("oversized messages", () => {
  it("of any kind leave an agent that wakes and answers", async () => {
    const made = newSessions(["one", "two"], { hydrationByteBudget: 1 });
    const { stub, rows, connect } = made;
    const client = await connect();
    await client.chat("x".repeat(3_000_000)).done;
    await store(made, 12, 1_800_000);
    await rows("UPDATE assistant_messages SET content = ? WHERE id = 'm10'", "{".repeat(1_900_000));
    await evict(stub());
    const held = await stub().getMessages();
    expect(held.map(({ id }) => id)).toEqual(["m8", "m9", "m11"]);
    const again = await connect();
    expect((await again.chat("still?").done).text).toBe("two");
  }, 90_000);
});
