/** Context providers on a real agent's database and a real bucket: what `session-context.test.ts` works on. */
import { env } from "cloudflare:workers";
import { countRows, runInAgent, type RowCounts } from "@cloudflare/think/testing";
import type { SqlHost } from "../../src/storage/host-sql";
import "./messages-agents";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly SKILLS: R2Bucket;
    }
  }
}

export interface ContextDesk {
  /** The agent itself, with its `sql` tag and its storage. */
  readonly agent: SqlHost;
  /** Only its tag, as a host that is no agent would have it. */
  readonly tag: SqlHost;
  cost(work: () => unknown): Promise<RowCounts>;
  rows(statement: string, ...bindings: unknown[]): Record<string, unknown>[];
}

let objects = 0;

/** Runs `work` inside a new agent. */
export function onContextAgent<Result>(work: (desk: ContextDesk) => Promise<Result>): Promise<Result> {
  objects += 1;
  return runInAgent(env.BareAgent.getByName(`context-${objects}`), (agent, { storage }) =>
    work({
      agent,
      tag: { sql: (strings, ...values) => agent.sql(strings, ...values) },
      cost: (inner) => countRows(storage, inner),
      rows: (statement, ...bindings) => storage.sql.exec(statement, ...bindings).toArray()
    })
  );
}
