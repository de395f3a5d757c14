import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import {
  connectChat,
  countAllRows,
  countRows,
  countRowsOf,
  evict,
  gate,
  runInAgent,
  scriptedModel
} from "@cloudflare/think/testing";

const stub = () => env.TestingChat.getByName("rows");

describe("countRows", () => {
  beforeEach(async () => {
    await runInAgent(stub(), (_agent, { storage }) => {
      storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, body TEXT)");
      storage.sql.exec("CREATE INDEX IF NOT EXISTS notes_body ON notes (body)");
      storage.sql.exec("DELETE FROM notes");
    });
  });

  it("counts the index rows an insert writes", async () => {
    const counts = await runInAgent(stub(), (_agent, state) =>
      countRows(state, () => state.storage.sql.exec("INSERT INTO notes (body) VALUES (?), (?)", "a", "b"))
    );
    expect(counts).toMatchObject({ rowsWritten: 4, statements: 1, totalWritten: 4 });
  });

  it("counts the rows a cursor read, however it is consumed", async () => {
    const counts = await runInAgent(stub(), (_agent, state) => {
      const { sql } = state.storage;
      sql.exec("INSERT INTO notes (body) VALUES ('a'), ('b'), ('c')");
      return countRows(state, () => {
        const all = () => sql.exec("SELECT * FROM notes");
        expect(all().toArray()).toHaveLength(3);
        expect([...all()]).toHaveLength(3);
        expect([...all().raw()]).toHaveLength(3);
        for (const cursor = all(); cursor.next().done !== true;);
        expect(sql.exec("SELECT count(*) AS n FROM notes").one()).toEqual({ n: 3 });
      });
    });
    expect(counts.bySql).toEqual([
      { sql: "SELECT * FROM notes", statements: 4, rowsWritten: 0, rowsRead: 12 },
      { sql: "SELECT count(*) AS n FROM notes", statements: 1, rowsWritten: 0, rowsRead: 3 }
    ]);
    expect(counts.totalRead).toBe(15);
  });

  it("counts only the rows that were really read when a cursor is left early", async () => {
    const counts = await runInAgent(stub(), (_agent, state) => {
      const { sql } = state.storage;
      sql.exec("INSERT INTO notes (body) VALUES ('a'), ('b'), ('c'), ('d')");
      return countRows(state, () => {
        for (const row of sql.exec("SELECT * FROM notes")) if (row.body === "b") break;
      });
    });
    expect(counts.rowsRead).toBeLessThan(4);
    expect(counts.rowsRead).toBeGreaterThan(1);
  });

  it("counts every statement of an exec that holds several, and still binds values to the last", async () => {
    const counts = await runInAgent(stub(), (_agent, state) =>
      countRows(state, () => {
        const { sql } = state.storage;
        sql.exec(
          "INSERT INTO notes (body) VALUES ('x;y'); -- two; notes\nINSERT INTO notes (body) VALUES (?);",
          "z"
        );
        expect(sql.exec("SELECT body FROM notes").toArray()).toEqual([{ body: "x;y" }, { body: "z" }]);
      })
    );
    expect(counts).toMatchObject({ rowsWritten: 4, statements: 3 });
  });

  it("sees the agent's own sql, key-value operations of both kinds, and alarms", async () => {
    const counts = await runInAgent(stub(), (agent, state) => {
      const { storage } = state;
      return countRows(state, async () => {
        agent.addNote("from the agent");
        await storage.put("t:a", 1);
        await storage.put({ "t:b": 1, "t:c": 2 });
        await storage.get(["t:a", "t:b"]);
        await storage.delete("t:a");
        storage.kv.put("t:d", 1);
        storage.kv.get("t:d");
        expect([...storage.kv.list({ prefix: "t:d" })]).toHaveLength(1);
        expect(await storage.list({ start: "t:b", end: "t:d" })).toHaveProperty("size", 2);
        await storage.transaction(async (transaction) => transaction.put("t:e", 1));
        await storage.setAlarm(Date.now() + 60_000);
        await storage.deleteAlarm();
      });
    });
    expect(counts).toMatchObject({
      rowsWritten: 2,
      kvWrites: 6,
      kvReads: 6,
      alarmWrites: 1,
      alarmDeletes: 1,
      totalWritten: 9,
      totalRead: 6
    });
  });

  it("counts background work until it is stopped, and nothing afterwards", async () => {
    const counter = await runInAgent(stub(), (_agent, state) => countRows(state));
    await runInAgent(stub(), (agent) => agent.addNote("counted"));
    expect(counter.read().rowsWritten).toBe(2);
    expect(counter.stop().rowsWritten).toBe(2);
    await runInAgent(stub(), (agent) => agent.addNote("not counted"));
    expect(counter.stop().rowsWritten).toBe(2);
  });

  it("leaves the storage as it found it", async () => {
    await runInAgent(stub(), (_agent, state) => {
      const { storage } = state;
      const before = [storage.sql.exec, storage.put, storage.kv.get, storage.setAlarm];
      const first = countRows(state);
      const second = countRows(state);
      storage.sql.exec("SELECT 1");
      first.stop();
      expect(storage.sql.exec).not.toBe(before[0]);
      storage.sql.exec("SELECT 1");
      second.stop();
      storage.sql.exec("SELECT 1");
      expect([storage.sql.exec, storage.put, storage.kv.get, storage.setAlarm]).toEqual(before);
      expect(Object.getOwnPropertyNames(storage.sql)).toEqual([]);
      expect([first.read().statements, second.read().statements]).toEqual([1, 2]);
    });
  });

  it("stops counting when the work fails", async () => {
    const failure = runInAgent(stub(), (_agent, state) =>
      countRows(state, () => {
        throw new Error("broken work");
      })
    );
    await expect(failure).rejects.toThrow("broken work");
  });
});

describe("countRowsOf", () => {
  it("counts a chat turn from outside, the part after a gate included", async () => {
    const held = gate();
    await runInAgent(stub(), (agent) => {
      agent.model = scriptedModel([["Hello", held, "."]]);
    });
    const client = await connectChat(exports.default, { agent: "TestingChat", name: "rows" });
    const counts = await countRowsOf(stub(), async () => {
      const turn = client.chat("Hi", { body: { note: true } });
      await held.reached;
      held.open();
      await turn.done;
    });
    expect(counts.rowsWritten).toBe(2);
    await client.close();
  });

  it("does not count other objects", async () => {
    const other = env.TestingChat.getByName("rows-other");
    await runInAgent(other, (agent) => agent.addNote("table made"));
    const counts = await countRowsOf(stub(), () => runInAgent(other, (agent) => agent.addNote("elsewhere")));
    expect(counts.rowsWritten).toBe(0);
  });
});

describe("countAllRows", () => {
  it("counts a wake-up, constructor included, and every object", async () => {
    const other = env.TestingChat.getByName("rows-other");
    const counts = await countAllRows(stub(), async () => {
      await evict(stub());
      await runInAgent(stub(), (agent) => agent.addNote("awake"));
      await runInAgent(other, (agent) => agent.addNote("elsewhere"));
    });
    const created = counts.bySql.find(({ sql }) => sql.startsWith("CREATE TABLE IF NOT EXISTS notes"));
    expect(created?.statements).toBe(2);
    const constructed = counts.bySql.find(({ sql }) => sql === "SELECT 'constructed'");
    expect(constructed?.statements).toBe(1);
  });

  it("leaves the prototypes as it found them", async () => {
    const methodsOf = () =>
      runInAgent(stub(), (_agent, { storage }) => [
        storage.sql.exec,
        storage.put,
        storage.kv.get,
        storage.setAlarm
      ]);
    const before = await methodsOf();
    await countAllRows(stub(), async () => expect(await methodsOf()).not.toEqual(before));
    expect(await methodsOf()).toEqual(before);
  });
});
