/** Sessions on a real Durable Object's SQLite, without an agent around them. Each `wake` is a new life on the same rows. */
import { countRows, fakeClock, type RowCounts } from "@cloudflare/think/testing";
import { composeSession, type SessionHost, type SessionStores } from "../../src/compose-session";
import { createConfigStore } from "../../src/storage/config-store";
import type { Sql } from "../../src/storage/sql";
import { onNewObject } from "./messages-agents";

export interface SessionDesk {
  readonly sql: Sql;
  wake(options?: { readonly hydrationByteBudget?: number }): SessionStores;
  cost(work: () => unknown): Promise<RowCounts>;
  rows(statement: string, ...bindings: unknown[]): Record<string, unknown>[];
  /** Files of the workspace that the sessions share. */
  readonly files: Map<string, string>;
}

export function onSessions<Result>(work: (desk: SessionDesk) => Result | Promise<Result>): Promise<Result> {
  return onNewObject(({ sql, storage, rows }) => {
    const clock = fakeClock();
    const files = new Map<string, string>();
    let next = 0;
    const host: SessionHost = {
      ...{ sql, clock, emit: () => undefined, broadcast: () => undefined },
      ids: { next: () => `id-${(next += 1)}` },
      hasConnections: () => false
    };
    return work({
      ...{ sql, files, rows },
      cost: (inner) => countRows(storage, inner),
      wake: ({ hydrationByteBudget = 24 * 1024 * 1024 } = {}) =>
        composeSession(
          host,
          {
            hydrationByteBudget: () => hydrationByteBudget,
            mediaEviction: () => false,
            configureSession: (session) => session,
            attachments: () => ({
              read: async (path) => files.get(path) ?? null,
              write: async (path, content) => void files.set(path, content)
            })
          },
          createConfigStore(sql)
        )
    });
  });
}
