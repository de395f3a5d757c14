/**
 * Thoughts in a Durable Object's SQLite: tables `cf_think_thoughts` and `cf_think_thought_sessions`, made on first use. A thought costs two
 * rows, and one more when it pushes out the oldest.
 */
import { missableTable, type MissableTable } from "../storage/lazy-table";
import type { Sql, SqlRow } from "../storage/sql";
import type { ThoughtEntry, ThoughtMetadata, ThoughtStore } from "./thought-store";

const SESSIONS = `CREATE TABLE IF NOT EXISTS cf_think_thought_sessions (
  session_id TEXT PRIMARY KEY NOT NULL,
  created_at TEXT NOT NULL,
  last_updated TEXT NOT NULL,
  total_steps INTEGER NOT NULL
) WITHOUT ROWID`;

const THOUGHTS = `CREATE TABLE IF NOT EXISTS cf_think_thoughts (
  session_id TEXT NOT NULL,
  step INTEGER NOT NULL,
  thought TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  PRIMARY KEY (session_id, step)
) WITHOUT ROWID`;

interface SessionRow extends SqlRow {
  created_at: string;
  last_updated: string;
  total_steps: number;
}

/** The part of a Durable Object's storage that a log needs. `ctx.storage` is one. */
export interface ThoughtStorage {
  readonly sql: {
    exec(statement: string, ...bindings: (string | number)[]): { toArray(): Record<string, unknown>[] };
  };
  transactionSync<Result>(work: () => Result): Result;
}

export class SqlThoughts implements ThoughtStore {
  readonly #sql: Sql;
  readonly #tables: MissableTable;

  constructor(storage: ThoughtStorage) {
    this.#sql = {
      exec: <Row extends SqlRow>(statement: string, ...bindings: unknown[]) =>
        storage.sql.exec(statement, ...(bindings as (string | number)[])).toArray() as Row[],
      transaction: (work) => storage.transactionSync(work)
    };
    // Both names begin like this, and both tables are made together.
    this.#tables = missableTable(this.#sql, "cf_think_thought", () => {
      this.#sql.exec(SESSIONS);
      this.#sql.exec(THOUGHTS);
    });
  }

  open(sessionId: string, now: string): ThoughtMetadata {
    const known = this.#find(sessionId);
    if (known !== undefined) return known;
    this.#tables.exec("INSERT INTO cf_think_thought_sessions VALUES (?, ?, ?, 0)", sessionId, now, now);
    return { createdAt: now, lastUpdated: now, totalSteps: 0 };
  }

  append(
    sessionId: string,
    { text, now }: { readonly text: string; readonly now: string },
    keep: number
  ): { readonly step: number; readonly kept: number } {
    return this.#sql.transaction(() => {
      const [row] = this.#tables.exec<{ total_steps: number }>(
        `INSERT INTO cf_think_thought_sessions VALUES (?, ?, ?, 1)
         ON CONFLICT (session_id) DO UPDATE SET total_steps = total_steps + 1, last_updated = excluded.last_updated
         RETURNING total_steps`,
        sessionId,
        now,
        now
      );
      const step = Number(row?.total_steps);
      this.#sql.exec("INSERT INTO cf_think_thoughts VALUES (?, ?, ?, ?)", sessionId, step, text, now);
      if (step > keep) {
        this.#sql.exec(
          "DELETE FROM cf_think_thoughts WHERE session_id = ? AND step <= ?",
          sessionId,
          step - keep
        );
      }
      // Steps have no gaps, so the first one kept tells their number.
      const [first] = this.#sql.exec<{ step: number }>(
        "SELECT step FROM cf_think_thoughts WHERE session_id = ? ORDER BY step LIMIT 1",
        sessionId
      );
      return { step, kept: step - Number(first?.step) + 1 };
    });
  }

  list(sessionId: string): ThoughtEntry[] {
    const rows = this.#tables.query<{ timestamp: string; thought: string; step: number }>(
      "SELECT timestamp, thought, step FROM cf_think_thoughts WHERE session_id = ? ORDER BY step",
      sessionId
    );
    return rows.map(({ timestamp, thought, step }) => ({ timestamp, thought, step }));
  }

  clear(sessionId: string): void {
    this.#sql.transaction(() => {
      this.#tables.query("DELETE FROM cf_think_thoughts WHERE session_id = ?", sessionId);
      this.#tables.query("DELETE FROM cf_think_thought_sessions WHERE session_id = ?", sessionId);
    });
  }

  clearUnusedSince(before: string): number {
    const unused = this.#tables.query<{ session_id: string }>(
      "SELECT session_id FROM cf_think_thought_sessions WHERE last_updated < ?",
      before
    );
    for (const row of unused) this.clear(row.session_id);
    return unused.length;
  }

  #find(sessionId: string): ThoughtMetadata | undefined {
    const [row] = this.#tables.query<SessionRow>(
      "SELECT created_at, last_updated, total_steps FROM cf_think_thought_sessions WHERE session_id = ?",
      sessionId
    );
    if (row === undefined) return undefined;
    return { createdAt: row.created_at, lastUpdated: row.last_updated, totalSteps: row.total_steps };
  }
}
