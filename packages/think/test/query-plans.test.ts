/**
 * How SQLite runs each statement on a table that grows. What is part of a turn finds its rows by key. What reads more, by design, is
 * listed here with its reason, and nothing else may.
 */
import {
  connectChat,
  countRows,
  countRowsOf,
  fakeClock,
  runInAgent,
  scriptedModel
} from "@cloudflare/think/testing";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { BRANCH_SQL } from "../src/session/branch-store";
import { COMPACTION_SQL } from "../src/session/compaction/compaction-store";
import { MESSAGE_SQL } from "../src/session/message-store";
import { PATH_PAGE, PATH_PAGE_TO_COMPACTION, PATH_SIZES, WHOLE_PATH } from "../src/session/path-query";
import { SEARCH_SQL } from "../src/session/search-index";
import { openStored } from "../src/session/session-source";
import { SESSION_SQL } from "../src/session/session-store";
import { createStreamStore } from "../src/stream/stream-store";
import { useModel } from "./worker/chat-agents";
import { answer, dialogue, loadWorker, onNewObject, user } from "./worker/messages-agents";

beforeAll(loadWorker, 60_000);

/**
 * key: rows are found by their whole key, or by a key that few rows share. page: a range of a key with a LIMIT. index: by full-text
 * search. session: every row of one session. table: every row.
 */
type Reach = "key" | "page" | "index" | "session" | "table";

const ORDER: readonly Reach[] = ["key", "page", "index", "session", "table"];

const groups = {
  MESSAGE_SQL,
  PATH_SQL: { WHOLE_PATH, PATH_PAGE, PATH_PAGE_TO_COMPACTION, PATH_SIZES },
  BRANCH_SQL,
  SESSION_SQL,
  COMPACTION_SQL,
  SEARCH_SQL
} as const;

/** What reaches further than a key, and why it may. None of it is part of a turn, unless it says so. */
const exceptions: Readonly<Record<string, readonly [Reach, string]>> = {
  "MESSAGE_SQL.children": [
    "session",
    "children of a message off the active path; asked when a person looks at branches"
  ],
  "MESSAGE_SQL.links": [
    "session",
    "finds the leaf of a session that has no pointer: once, for published data, or when it was deleted"
  ],
  "MESSAGE_SQL.page": ["page", "export and import"],
  "MESSAGE_SQL.any": ["session", "reads one row of it"],
  "MESSAGE_SQL.count": ["session", "a number that a program asks for"],
  "MESSAGE_SQL.clear": ["session", "deletes all of it"],
  "BRANCH_SQL.all": ["session", "export"],
  "BRANCH_SQL.moveLeaf": ["session", "deletion of a message; forks only, which are few"],
  "BRANCH_SQL.any": ["session", "reads one row of it"],
  "BRANCH_SQL.clear": ["session", "deletes all of it"],
  "SESSION_SQL.list": ["table", "lists all sessions, at most 10,000"],
  "COMPACTION_SQL.list": ["session", "part of a wake; a session has at most 50"],
  "COMPACTION_SQL.clear": ["session", "deletes all of it"],
  "PATH_SQL.PATH_PAGE_TO_COMPACTION": [
    "session",
    "reads the ends of at most 50 summaries, as COMPACTION_SQL.list does"
  ],
  "SEARCH_SQL.find": ["index", "what search is"],
  "SEARCH_SQL.sources": ["page", "indexes a session when it is first searched"],
  "SEARCH_SQL.clear": [
    "table",
    "clears or deletes a session that was searched; the index has no key by session"
  ]
};

type Rows = (statement: string, ...bindings: unknown[]) => Record<string, unknown>[];

function reachOf(rows: Rows, statement: string): Reach {
  // Has an empty plan.
  if (/^DELETE FROM \w+$/.test(statement)) return "table";
  const numbered = [...statement.matchAll(/\?(\d+)/g)].map((match) => Number(match[1]));
  const count = numbered.length > 0 ? Math.max(...numbered) : statement.split("?").length - 1;
  const plan = rows(`EXPLAIN QUERY PLAN ${statement}`, ...Array.from({ length: count }, () => null));
  const reaches = plan.map(({ detail }) => reachOfStep(String(detail)));
  return ORDER.findLast((reach) => reaches.includes(reach)) ?? "key";
}

/** One line of a plan. Lines that touch no table, or only the queue of a recursive query, reach nothing. */
function reachOfStep(detail: string): Reach | undefined {
  const virtual = /VIRTUAL TABLE INDEX \d+:(.*)$/.exec(detail);
  if (virtual) return virtual[1] === "=" ? "key" : virtual[1]?.includes("M") ? "index" : "table";
  if (/^SCAN (?!path\b|CONSTANT ROW)/.test(detail)) return "table";
  if (!detail.startsWith("SEARCH ")) return undefined;
  const terms = /\((.*)\)$/.exec(detail)?.[1] ?? "";
  if (terms === "session_id=?") return detail.includes("assistant_fts_sessions") ? "key" : "session";
  return /[<>]/.test(terms) ? "page" : "key";
}

const published = `CREATE TABLE assistant_messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL DEFAULT '', parent_id TEXT,
  role TEXT NOT NULL, content TEXT NOT NULL, created_at DATETIME DEFAULT CURRENT_TIMESTAMP)`;

describe.each([
  ["our layout", undefined],
  ["the published message table", published]
])("statements on %s", (_name, table) => {
  it("reach as far as they are listed to", () =>
    onNewObject(({ sql, rows }) => {
      if (table !== undefined) sql.exec(table);
      const clock = fakeClock();
      const { provider } = openStored({ sql, clock, ids: clock.ids }, "");
      // Makes every table.
      for (const message of dialogue(3)) provider.appendMessage(message);
      provider.appendMessage(answer("branch"), "m0");
      provider.addCompaction("s", "m0", "branch");
      provider.searchMessages?.("x", 1);
      for (const [group, statements] of Object.entries(groups)) {
        for (const [name, statement] of Object.entries(statements)) {
          const listed = exceptions[`${group}.${name}`]?.[0] ?? "key";
          const reach = reachOf(rows, statement);
          // Without a key by session, what reads a session reads the table.
          const isWider = table !== undefined && group === "MESSAGE_SQL" && listed === "session";
          const expected = isWider ? "table" : listed;
          expect({ statement: `${group}.${name}`, reach }).toEqual({
            statement: `${group}.${name}`,
            reach: expected
          });
        }
      }
    }));
});

describe("statements of a turn", () => {
  /** Those that read or write a growing table. */
  const growing = (statements: readonly { readonly sql: string }[]) =>
    statements
      .map(({ sql }) => sql)
      .filter((sql) => !sql.includes("pragma_"))
      .filter(
        (sql) =>
          /\b(?:assistant_\w+|cf_ai_chat_stream_\w+)\b/.test(sql) &&
          /^(?:SELECT|INSERT|UPDATE|DELETE|WITH)/.test(sql)
      );

  it("through the socket find their rows by key: question, answer, stream", async () => {
    const name = "query-plans";
    useModel(name, scriptedModel(Array.from({ length: 6 }, (_, index) => `answer ${index}`)));
    const client = await connectChat(exports.default, { agent: "ChatAgent", name });
    const stub = env.ChatAgent.getByName(name);
    await client.chat("first").done;
    await client.chat("second").done;
    const { bySql } = await countRowsOf(stub, async () => {
      await client.chat("third").done;
      await client.chat("fourth").done;
    });
    const statements = growing(bySql);
    expect(statements.length).toBeGreaterThanOrEqual(4);
    await runInAgent(stub, (_agent, { storage }) => {
      for (const statement of statements) {
        const reach = reachOf(
          (text, ...bindings) => storage.sql.exec(text, ...bindings).toArray(),
          statement
        );
        expect({ statement, reach }).toEqual({ statement, reach: "key" });
      }
    });
  });

  it("of a searched session with summaries find their rows by key, too", () =>
    onNewObject(async ({ sql, storage, rows }) => {
      const clock = fakeClock();
      const { provider } = openStored({ sql, clock, ids: clock.ids }, "");
      for (const message of dialogue(60)) provider.appendMessage(message);
      provider.addCompaction("s", "m2", "m20");
      provider.searchMessages?.("x", 1);
      const { bySql } = await countRows(storage, () => {
        provider.appendMessage(user("q"));
        provider.appendMessage(answer("a"));
        provider.updateMessage(answer("a", "better"));
        provider.appendMessage(answer("again"), "q");
        provider.getHistory();
      });
      const statements = growing(bySql);
      expect(statements.length).toBeGreaterThanOrEqual(4);
      for (const statement of statements) {
        const reach = reachOf(rows, statement);
        expect({ statement, reach }).toEqual({ statement, reach: "key" });
      }
    }));

  it("on the stream find their rows by key; a wake that has to count, and a clear, read the one stream there is", () =>
    onNewObject(async ({ sql, storage, rows }) => {
      const store = createStreamStore({ sql, now: () => 0 });
      const record = { id: "s", requestId: "r", messageId: "m", continuation: false, error: null };
      const { bySql } = await countRows(storage, () => {
        store.save({ ...record, status: "streaming", progress: 0, createdAt: 0 });
        store.writeRow("s", 0, "[]");
        store.load();
        store.chunks("s", 1);
        store.countRows("s");
        store.clear();
      });
      const far = growing(bySql).filter((statement) => !["key", "page"].includes(reachOf(rows, statement)));
      expect(far.toSorted()).toEqual([
        "DELETE FROM cf_ai_chat_stream_chunks",
        "DELETE FROM cf_ai_chat_stream_metadata",
        "SELECT count(*) AS count FROM cf_ai_chat_stream_chunks WHERE stream_id = ?"
      ]);
    }));
});
