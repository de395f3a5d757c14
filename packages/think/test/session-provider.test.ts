/** The contract of session storage on each storage there is. */
import { fakeClock } from "@cloudflare/think/testing";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import type { SessionProvider } from "@cloudflare/think/session";
import { openStored } from "../src/session/session-source";
import { hostSql } from "../src/storage/host-sql";
import { MemorySessionProvider } from "./memory-session-provider";
import { describeSessionProvider, type WithStorage } from "./session-provider-contract";
import { answer, ids, loadWorker, onNewObject } from "./worker/messages-agents";
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

/** One call; `pick` chooses among the ids that have ever been used, so that known, unknown and deleted ones all come. */
const step = fc.record({
  kind: fc.constantFrom(
    ...(["append", "append", "append", "below", "below", "root", "again", "update"] as const),
    ...(["delete", "deleteTwo", "clear", "wake"] as const)
  ),
  pick: fc.nat(1_000),
  text: fc.string({ maxLength: 20 })
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function run(provider: SessionProvider, { kind, pick, text }: Step, index: number): void {
  const chosen = `m${pick % (index + 1)}`;
  const message = answer(`m${index}`, text);
  if (kind === "append") provider.appendMessage(message);
  else if (kind === "below") provider.appendMessage(message, chosen);
  else if (kind === "root") provider.appendMessage(message, null);
  else if (kind === "again") provider.appendMessage(answer(chosen, text), null);
  else if (kind === "update") provider.updateMessage(answer(chosen, text));
  else if (kind === "delete") provider.deleteMessages([chosen]);
  else if (kind === "deleteTwo") provider.deleteMessages([chosen, `m${(pick * 7) % (index + 1)}`]);
  else if (kind === "clear") provider.clearMessages();
}

/** All that can be asked. */
function seen(provider: SessionProvider, count: number, bytes: number): unknown {
  const messages = Array.from({ length: count }, (_, index) => `m${index}`);
  return {
    history: provider.getHistory(),
    leaf: provider.getLatestLeaf(),
    length: provider.getPathLength(),
    recent: provider.getRecentHistory?.(bytes, 1),
    sizes: provider.getHistoryRowStats?.(),
    paths: messages.map((id) => ids(provider.getHistory(id))),
    children: messages.map((id) => ids(provider.getBranches(id)).toSorted())
  };
}

it("SQLite and the map answer alike, whatever is done to them", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) =>
      onNewObject(async ({ sql }) => {
        const clock = fakeClock();
        const open = () => openStored({ sql, clock, ids: clock.ids }, "work").provider;
        const map = new MemorySessionProvider();
        let stored = open();
        for (const [index, one] of steps.entries()) {
          if (one.kind === "wake") {
            // Between two lives time passes.
            await clock.advance(1_000);
            stored = open();
          }
          for (const provider of [stored, map]) run(provider, one, index);
          const count = index + 1;
          expect(seen(stored, count, one.pick)).toEqual(seen(map, count, one.pick));
        }
      })
    ),
    { seed: 20_261_118, numRuns: 100 }
  );
}, 120_000);
