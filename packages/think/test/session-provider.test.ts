/** The contract of session storage on each storage there is. */
import { fakeClock } from "@cloudflare/think/testing";
import { beforeAll } from "vitest";
import { openStored } from "../src/session/session-source";
import { hostSql } from "../src/storage/host-sql";
import { MemorySessionProvider } from "./memory-session-provider";
import { describeSessionProvider, type WithStorage } from "./session-provider-contract";
import { loadWorker, onNewObject } from "./worker/messages-agents";
import { onContextAgent } from "./worker/session-context-agents";

beforeAll(loadWorker, 60_000);

const sqlite =
  (sessionId: string, table?: string): WithStorage =>
  (work) =>
    onNewObject(({ sql }) => {
      if (table !== undefined) sql.exec(table);
      const clock = fakeClock();
      return work(() => openStored({ sql, clock, ids: clock.ids }, sessionId).provider);
    });

describeSessionProvider("SQLite, the primary session", sqlite(""));
describeSessionProvider("SQLite, a named session", sqlite("work"));
describeSessionProvider(
  "SQLite, a message table of the published package",
  sqlite(
    "",
    `CREATE TABLE assistant_messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL DEFAULT '', parent_id TEXT, role TEXT NOT NULL,
      content TEXT NOT NULL, created_at DATETIME DEFAULT CURRENT_TIMESTAMP)`
  )
);
describeSessionProvider("SQLite through nothing but an sql tag", (work) =>
  onContextAgent(async ({ tag }) => {
    const clock = fakeClock();
    await work(() => openStored({ sql: hostSql(tag), clock, ids: clock.ids }, "").provider);
  })
);
describeSessionProvider("a map in memory", async (work) => {
  const provider = new MemorySessionProvider();
  await work(() => provider);
});
