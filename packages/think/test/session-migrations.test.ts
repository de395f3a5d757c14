/** Databases that others have written: by the published package, in its layouts, and by a newer release of ours. */
import { Session, SessionManager } from "@cloudflare/think/session";
import { runInAgent } from "@cloudflare/think/testing";
import type { UIMessage } from "ai";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SCHEMA_VERSION } from "../src/session/session-store";
import { createConfigStore } from "../src/storage/config-store";
import { hostSql } from "../src/storage/host-sql";
import { answer, dialogue, ids, loadWorker, user } from "./worker/messages-agents";
import { onContextAgent, type ContextDesk } from "./worker/session-context-agents";

beforeAll(loadWorker, 60_000);

/** How the published package has written times. */
interface Dates {
  readonly type: string;
  /** Seconds after ten o'clock on the day of the tests. */
  write(seconds: number): string | number;
}

const TEN = Date.UTC(2026, 10, 18, 10);

const text: Dates = {
  type: "DATETIME DEFAULT CURRENT_TIMESTAMP",
  write: (seconds) => new Date(TEN + seconds * 1000).toISOString().slice(0, 19).replace("T", " ")
};

const seconds: Dates = { type: "INTEGER NOT NULL DEFAULT (unixepoch())", write: (at) => TEN / 1000 + at };

/** The tables of the published package: global ids, rowids and indexes, a search index that knows nothing of sessions. */
function publish({ rows }: Pick<ContextDesk, "rows">, { type, write }: Dates) {
  rows(`CREATE TABLE assistant_messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL DEFAULT '', parent_id TEXT,
    role TEXT NOT NULL, content TEXT NOT NULL, created_at ${type})`);
  rows("CREATE INDEX idx_assistant_msg_parent ON assistant_messages (parent_id)");
  rows("CREATE INDEX idx_assistant_msg_session ON assistant_messages (session_id)");
  rows(`CREATE TABLE assistant_compactions (id TEXT PRIMARY KEY, session_id TEXT NOT NULL DEFAULT '', summary TEXT NOT NULL,
    from_message_id TEXT NOT NULL, to_message_id TEXT NOT NULL, created_at ${type})`);
  rows(`CREATE TABLE assistant_sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL, parent_session_id TEXT, model TEXT, source TEXT,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, estimated_cost REAL DEFAULT 0, end_reason TEXT,
    created_at ${type}, updated_at ${type})`);
  rows(`CREATE VIRTUAL TABLE assistant_fts USING fts5(id UNINDEXED, session_id UNINDEXED, role UNINDEXED, content,
    tokenize = 'porter unicode61')`);
  rows(
    `CREATE TABLE cf_agents_context_blocks (label TEXT PRIMARY KEY, content TEXT NOT NULL, updated_at ${type})`
  );
  return {
    message: (message: UIMessage, parent: string | null, at: number, session = "") => {
      rows(
        "INSERT INTO assistant_messages (id, session_id, parent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        ...[message.id, session, parent, message.role, JSON.stringify(message), write(at)]
      );
      rows(
        "INSERT INTO assistant_fts (id, session_id, role, content) VALUES (?, ?, ?, 'old index')",
        message.id,
        session,
        message.role
      );
    },
    compaction: (id: string, from: string, to: string, at: number, session = "") =>
      rows(
        "INSERT INTO assistant_compactions (id, session_id, summary, from_message_id, to_message_id, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        ...[id, session, `summary ${id}`, from, to, write(at)]
      ),
    session: (id: string, name: string, at: number) =>
      rows(
        "INSERT INTO assistant_sessions (id, name, created_at, updated_at) VALUES (?, ?, ?, ?)",
        ...[id, name, write(at), write(at + 5)]
      ),
    block: (label: string, content: string) =>
      rows("INSERT INTO cf_agents_context_blocks (label, content) VALUES (?, ?)", label, content)
  };
}

/** Every table of sessions and every row in it. */
function dump({ rows }: Pick<ContextDesk, "rows">): string {
  const schema = rows("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").filter(
    ({ name }) => /^(?:assistant_|cf_agents_context)/.test(String(name))
  );
  return JSON.stringify(schema.map(({ name, sql }) => [sql, rows(`SELECT * FROM "${String(name)}"`)]));
}

describe.each([
  ["dates as text", text],
  ["seconds", seconds]
] as const)("§8.2 a database of the published package with %s", (_name, dates) => {
  it("is read as one session: the newest leaf, its branches, its summaries, its prompt", () =>
    onContextAgent(async (desk) => {
      const published = publish(desk, dates);
      for (const [index, message] of dialogue(6).entries())
        published.message(message, index === 0 ? null : `m${index - 1}`, index);
      // Within one second the row that came later is the newer one.
      published.message(answer("zz-older"), "m4", 9);
      published.message(answer("aa-newer"), "m4", 9);
      published.compaction("c1", "m0", "m1", 7);
      published.compaction("c2", "m0", "m3", 8);
      published.block("memory", "likes tea");
      published.block("_system_prompt", "the frozen prompt");
      const session = Session.create(desk.agent).withContext("memory").withCachedPrompt();
      expect(ids(session.getHistory())).toEqual(["compaction_c2", "m4", "aa-newer"]);
      expect(ids(session.getHistory("m5"))).toEqual(["compaction_c2", "m4", "m5"]);
      expect(ids(session.getBranches("m4"))).toEqual(["m5", "zz-older", "aa-newer"]);
      expect(session.getPathLength()).toBe(6);
      expect(session.getCompactions().map(({ createdAt }) => createdAt)).toEqual([TEN + 7_000, TEN + 8_000]);
      expect(await session.freezeSystemPrompt()).toBe("the frozen prompt");
      expect(await session.refreshSystemPrompt()).toContain("likes tea");
      // Its index is built anew.
      expect(session.search("old index")).toEqual([]);
      const [hit] = session.search("answer zz-older");
      expect(hit).toMatchObject({ id: "zz-older", createdAt: new Date(TEN + 9_000) });
      await session.appendMessage(user("next"));
      await session.deleteMessages(["m4"]);
      expect(ids(Session.create(desk.agent).getHistory())).toEqual(["compaction_c2", "aa-newer", "next"]);
    }));

  it("is read as many sessions, by their last change, and goes on", () =>
    onContextAgent(async (desk) => {
      const published = publish(desk, dates);
      published.session("a", "first", 0);
      published.session("b", "second", 60);
      published.message(user("q1"), null, 0, "a");
      published.message(answer("r1"), "q1", 1, "a");
      published.message(user("q2"), null, 61, "b");
      published.message(user("q3"), null, 70, "nameless");
      published.compaction("c", "q1", "r1", 2, "a");
      const manager = SessionManager.create(desk.agent);
      expect(manager.list()).toMatchObject([
        { id: "b", name: "second", created_at: TEN + 60_000, updated_at: TEN + 65_000 },
        { id: "a", name: "first", created_at: TEN, updated_at: TEN + 5_000, input_tokens: 0, model: null }
      ]);
      expect(ids(manager.getHistory("a"))).toEqual(["compaction_c"]);
      expect(manager.getMessageCount("a")).toBe(2);
      // Reading is no change.
      expect(manager.get("a")?.updated_at).toBe(TEN + 5_000);
      // One that has messages and no row gets one.
      expect(manager.get("nameless")).toMatchObject({ id: "nameless", name: "New Chat" });
      expect(ids(manager.getHistory("nameless"))).toEqual(["q3"]);
      manager.addUsage("a", 1, 2, 3);
      expect(manager.search("question q2").map(({ sessionId }) => sessionId)).toEqual(["b"]);
      expect(ids(SessionManager.create(desk.agent).getHistory("b"))).toEqual(["q2"]);
    }));

  it("§11.11 gives ids to each session, once two sessions bring the same one", () =>
    onContextAgent(async (desk) => {
      const published = publish(desk, dates);
      published.session("a", "first", 0);
      published.message(user("m"), null, 0, "a");
      published.message(answer("n"), "m", 1, "a");
      published.compaction("c", "m", "m", 2, "a");
      const manager = SessionManager.create(desk.agent);
      const other = manager.create("other");
      await manager.appendAll(other.id, [user("m", "mine"), answer("n", "mine too")]);
      const copy = await manager.importSession(await manager.exportSession("a"));
      const woken = SessionManager.create(desk.agent);
      expect(ids(woken.getHistory("a"))).toEqual(["compaction_c", "n"]);
      expect(ids(woken.getHistory(copy.id))).toEqual(["compaction_c", "n"]);
      expect(woken.getSession("a").getMessage("m")).toEqual(user("m"));
      expect(woken.getHistory(other.id)).toEqual([user("m", "mine"), answer("n", "mine too")]);
      expect(await woken.exportSession(copy.id)).toBe(await woken.exportSession("a"));
    }));
});

describe("§10 a database of the first releases", () => {
  it("has sessions with a name and times only, and its setting is read once", () =>
    onContextAgent(async ({ agent, rows }) => {
      rows(
        "CREATE TABLE assistant_sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL, created_at DATETIME, updated_at DATETIME)"
      );
      rows(
        "INSERT INTO assistant_sessions VALUES ('s', 'old', '2026-11-18 10:00:00', '2026-11-18 10:00:01')"
      );
      rows(`CREATE TABLE assistant_messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, parent_id TEXT, role TEXT NOT NULL,
        content TEXT NOT NULL, created_at DATETIME DEFAULT CURRENT_TIMESTAMP)`);
      rows(
        "INSERT INTO assistant_messages (id, session_id, role, content) VALUES ('m', 's', 'user', ?)",
        JSON.stringify(user("m"))
      );
      const manager = SessionManager.create(agent);
      expect(manager.list()).toEqual([
        {
          ...{ id: "s", name: "old", parent_session_id: null, model: null, source: null, end_reason: null },
          ...{
            input_tokens: 0,
            output_tokens: 0,
            estimated_cost: 0,
            created_at: TEN,
            updated_at: TEN + 1_000
          }
        }
      ]);
      await manager.append("s", answer("n"));
      expect(SessionManager.create(agent).getHistory("s")).toEqual([user("m"), answer("n")]);

      rows("CREATE TABLE _think_config (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
      rows(`INSERT INTO _think_config VALUES ('config', '{"theme":"dark"}'), ('other', '1')`);
      rows("DROP TABLE IF EXISTS think_config");
      const config = createConfigStore(hostSql(agent));
      expect(config.get("_think_config")).toEqual({ theme: "dark" });
      expect(config.get("other")).toBeNull();
      config.set("_think_config", { theme: "light" });
      expect(createConfigStore(hostSql(agent)).get("_think_config")).toEqual({ theme: "light" });
    }));

  it("a setting that a later release has written wins over the first one", () =>
    onContextAgent(async ({ agent, rows }) => {
      rows("DROP TABLE IF EXISTS think_config");
      rows(
        "CREATE TABLE assistant_config (session_id TEXT, key TEXT, value TEXT, PRIMARY KEY (session_id, key))"
      );
      rows("INSERT INTO assistant_config VALUES ('', '_think_config', '2')");
      rows("CREATE TABLE _think_config (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
      rows("INSERT INTO _think_config VALUES ('config', '1')");
      expect(createConfigStore(hostSql(agent)).get("_think_config")).toBe(2);
    }));
});

describe("a database of a newer release", () => {
  const newer = expect.objectContaining({
    code: "newer-database",
    message: expect.stringMatching(
      /newer release of @cloudflare\/think \(layout 2, this release knows 1\)\. Deploy/
    )
  });

  /** Two sessions, the named one written by the next layout. */
  async function write({ agent, rows }: ContextDesk): Promise<void> {
    await Session.create(agent).forSession("work").appendMessages(dialogue(4));
    await Session.create(agent).appendMessages(dialogue(4));
    rows("UPDATE assistant_sessions SET schema_version = ?", SCHEMA_VERSION + 1);
  }

  it("is refused by a session at its first use, whatever that is, and nothing is changed", () =>
    onContextAgent(async (desk) => {
      await write(desk);
      const before = dump(desk);
      const uses: ((session: Session) => unknown)[] = [
        (session) => session.getHistory(),
        (session) => session.getMessage("m0"),
        (session) => session.getLatestLeaf(),
        (session) => session.getBranches("m0"),
        (session) => session.getRecentHistory(100),
        (session) => session.getHistoryRowStats(),
        (session) => session.search("question"),
        (session) => session.getCompactions(),
        (session) => session.appendMessage(user("x")),
        (session) => session.updateMessage(user("m0", "x")),
        (session) => session.deleteMessages(["m0"]),
        (session) => session.clearMessages(),
        (session) => session.compact(),
        (session) => session.deleteCompaction("c"),
        (session) => session.replaceContextBlock("memory", "x"),
        (session) => session.freezeSystemPrompt()
      ];
      for (const use of uses) {
        for (const id of ["", "work"]) {
          const session = Session.create(desk.agent).forSession(id).withContext("memory").withCachedPrompt();
          session.onCompaction(() => ({ fromMessageId: "m0", toMessageId: "m1", summary: "s" }));
          await expect((async () => use(session))()).rejects.toThrow(newer);
        }
      }
      expect(dump(desk)).toBe(before);
    }));

  it("is refused by a manager, also where only one of the sessions is newer", () =>
    onContextAgent(async (desk) => {
      await write(desk);
      desk.rows("UPDATE assistant_sessions SET schema_version = ? WHERE id = ''", SCHEMA_VERSION);
      const before = dump(desk);
      const calls: ((manager: SessionManager) => unknown)[] = [
        (manager) => manager.list(),
        (manager) => manager.get("work"),
        (manager) => manager.getSession("work"),
        (manager) => manager.create("another"),
        (manager) => manager.rename("work", "x"),
        (manager) => manager.delete("work"),
        (manager) => manager.append("work", user("x")),
        (manager) => manager.getTotalMessageCount("work"),
        (manager) => manager.fork("work", "m0", "x"),
        (manager) => manager.addUsage("work", 1, 1, 1),
        (manager) => manager.search("question"),
        (manager) => manager.exportSession("work"),
        (manager) => manager.importSession("{}")
      ];
      for (const one of calls)
        await expect((async () => one(SessionManager.create(desk.agent)))()).rejects.toThrow(newer);
      expect(dump(desk)).toBe(before);
    }));

  it("is refused by an agent", () =>
    runInAgent(env.ChatAgent.getByName("newer-database"), async (agent, { storage }) => {
      const rows = (statement: string, ...bindings: unknown[]) =>
        storage.sql.exec(statement, ...bindings).toArray();
      const insert =
        "INSERT INTO assistant_sessions (id, name, created_at, updated_at, schema_version) VALUES ('', 'n', 0, 0, 2)";
      rows(`CREATE TABLE assistant_sessions (id TEXT PRIMARY KEY, name TEXT, created_at INTEGER, updated_at INTEGER,
        schema_version INTEGER, leaf_id TEXT, path_count INTEGER, path_bytes INTEGER)`);
      rows(insert);
      const before = dump({ rows });
      await expect(agent.getHistory()).rejects.toThrow(newer);
      await expect(agent.addMessages([user("x")])).rejects.toThrow(newer);
      await expect(agent.searchMessages("x")).rejects.toThrow(newer);
      expect(dump({ rows })).toBe(before);
    }));
});
