/**
 * A writable block in the agent's database: table `cf_agents_context_blocks`, one row per block. Also keeps frozen prompts.
 *
 * An unchanged content is not written again; a table that nobody wrote to is not made.
 */
import { hostSql, type SqlHost } from "../../storage/host-sql";
import { missableTable, type MissableTable } from "../../storage/lazy-table";
import type { Sql } from "../../storage/sql";
import { invalid } from "./block";
import type { WritableContextProvider } from "./provider";

const NAME = "cf_agents_context_blocks";

const TABLE = `CREATE TABLE IF NOT EXISTS cf_agents_context_blocks (
  label TEXT PRIMARY KEY NOT NULL,
  content TEXT NOT NULL,
  updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID`;

const SET = `INSERT INTO cf_agents_context_blocks (label, content, updated_at) VALUES (?, ?, CURRENT_TIMESTAMP)
  ON CONFLICT (label) DO UPDATE SET content = excluded.content, updated_at = excluded.updated_at
  WHERE content IS NOT excluded.content`;

export class AgentContextProvider implements WritableContextProvider {
  readonly #table: MissableTable;
  #key: string | undefined;

  /** `key` is where the content is stored. Default: the label of the block. */
  constructor(host: SqlHost | Sql, key?: string) {
    const sql = hostSql(host);
    this.#table = missableTable(sql, NAME, () => void sql.exec(TABLE));
    this.#key = key;
  }

  init(label: string): void {
    this.#key ??= label;
  }

  async get(): Promise<string | null> {
    const [row] = this.#table.query<{ content: string }>(
      "SELECT content FROM cf_agents_context_blocks WHERE label = ?",
      this.#required()
    );
    return row?.content ?? null;
  }

  async set(content: string): Promise<void> {
    this.#table.exec(SET, this.#required(), content);
  }

  #required(): string {
    if (this.#key !== undefined) return this.#key;
    throw invalid("This AgentContextProvider has no key; pass one, or give the provider to a context block.");
  }
}

export function setBlockRow(sql: Sql, key: string, content: string): void {
  missableTable(sql, NAME, () => void sql.exec(TABLE)).exec(SET, key, content);
}

/** Deletes what blocks and prompts stored under these keys. */
export function deleteBlockRows(sql: Sql, keys: readonly string[]): void {
  const table = missableTable(sql, NAME, () => void sql.exec(TABLE));
  for (const key of keys) table.query("DELETE FROM cf_agents_context_blocks WHERE label = ?", key);
}
