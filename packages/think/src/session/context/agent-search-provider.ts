/**
 * A searchable block in the agent's database: tables `cf_agents_search_entries` and `cf_agents_search_fts`.
 *
 * The index has no copy of the texts; an index row has the rowid of its entry, so it is replaced without a scan. An index that was
 * made otherwise (by the published package) is built anew, once.
 */
import { CONTEXT_LIMITS } from "../../shared/limits";
import { hostSql, type SqlHost } from "../../storage/host-sql";
import { missableTable } from "../../storage/lazy-table";
import type { Sql } from "../../storage/sql";
import { invalid } from "./block";
import type { SearchProvider } from "./provider";

const ENTRIES = `CREATE TABLE IF NOT EXISTS cf_agents_search_entries (
  id INTEGER PRIMARY KEY,
  label TEXT NOT NULL,
  key TEXT NOT NULL,
  content TEXT NOT NULL,
  UNIQUE (label, key)
)`;

const INDEX = `CREATE VIRTUAL TABLE cf_agents_search_fts USING fts5(
  content, content='', contentless_delete=1, tokenize='porter unicode61'
)`;

const FILL =
  "INSERT INTO cf_agents_search_fts (rowid, content) SELECT rowid, content FROM cf_agents_search_entries";

const FIND = "SELECT rowid AS id, content FROM cf_agents_search_entries WHERE label = ? AND key = ?";

const SEARCH = `SELECT e.key, e.content FROM cf_agents_search_fts f
  CROSS JOIN cf_agents_search_entries e ON e.rowid = f.rowid
  WHERE cf_agents_search_fts MATCH ? AND e.label = ? ORDER BY f.rank, e.rowid LIMIT ?`;

export class AgentSearchProvider implements SearchProvider {
  readonly #sql: Sql;
  #label: string | undefined;
  #prepared = false;
  /** Counting reads every entry, and the listing is read after each write: count once, then keep count. */
  #count: number | undefined;

  /** `key` is what the entries are stored under. Default: the label of the block. */
  constructor(host: SqlHost | Sql, key?: string) {
    this.#sql = hostSql(host);
    this.#label = key;
  }

  init(label: string): void {
    this.#label ??= label;
  }

  async get(): Promise<string | null> {
    const count = this.#counted();
    return count === 0 ? null : `${count} entries indexed.`;
  }

  async set(key: string, content: string): Promise<void> {
    const label = this.#required();
    this.#prepare();
    const [existing] = this.#sql.exec<{ id: number; content: string }>(FIND, label, key);
    if (existing?.content === content) return;
    const count = this.#counted();
    this.#sql.transaction(() => {
      if (existing) this.#replace(existing.id, content);
      else this.#insert(label, key, content);
    });
    this.#count = existing ? count : count + 1;
  }

  async search(query: string): Promise<string | null> {
    const match = matchOf(query);
    if (match === undefined || this.#counted() === 0) return null;
    this.#prepare();
    const rows = this.#sql.exec<{ key: string; content: string }>(
      ...([SEARCH, match, this.#required(), CONTEXT_LIMITS.searchResults] as const)
    );
    return rows.length === 0 ? null : rows.map(({ key, content }) => `[${key}]\n${content}`).join("\n\n");
  }

  #insert(label: string, key: string, content: string): void {
    const [row] = this.#sql.exec<{ id: number }>(
      "INSERT INTO cf_agents_search_entries (label, key, content) VALUES (?, ?, ?) RETURNING rowid AS id",
      ...([label, key, content] as const)
    );
    if (row) this.#index(row.id, content);
  }

  #replace(id: number, content: string): void {
    this.#sql.exec("UPDATE cf_agents_search_entries SET content = ? WHERE rowid = ?", content, id);
    this.#sql.exec("DELETE FROM cf_agents_search_fts WHERE rowid = ?", id);
    this.#index(id, content);
  }

  #index(id: number, content: string): void {
    this.#sql.exec("INSERT INTO cf_agents_search_fts (rowid, content) VALUES (?, ?)", id, content);
  }

  #counted(): number {
    const query = missableTable(this.#sql, "cf_agents_search_entries", () => undefined).query;
    this.#count ??=
      query<{ n: number }>(
        "SELECT count(*) AS n FROM cf_agents_search_entries WHERE label = ?",
        this.#required()
      )[0]?.n ?? 0;
    return this.#count;
  }

  #prepare(): void {
    if (!this.#prepared) prepareIndex(this.#sql);
    this.#prepared = true;
  }

  #required(): string {
    if (this.#label !== undefined) return this.#label;
    throw invalid("This AgentSearchProvider has no key; pass one, or give the provider to a context block.");
  }
}

/** Makes the tables, and builds an index anew that is not ours. */
function prepareIndex(sql: Sql): void {
  const [index] = sql.exec<{ sql: string }>(
    "SELECT sql FROM sqlite_master WHERE name = 'cf_agents_search_fts'"
  );
  if (index?.sql.includes("contentless_delete")) return;
  sql.transaction(() => {
    sql.exec(ENTRIES);
    if (index) sql.exec("DROP TABLE cf_agents_search_fts");
    sql.exec(INDEX);
    sql.exec(FILL);
  });
}

/** Every word quoted, so that nothing in it is an operator; undefined when there is no word. */
function matchOf(query: string): string | undefined {
  const words = query
    .slice(0, CONTEXT_LIMITS.searchQueryChars)
    .split(/[\s\0]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, CONTEXT_LIMITS.searchWords);
  return words.length === 0 ? undefined : words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
}

/** Deletes what searchable blocks stored under these keys. */
export function deleteSearchRows(sql: Sql, keys: readonly string[]): void {
  const exists = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'cf_agents_search_entries'").length > 0;
  if (!exists || keys.length === 0) return;
  prepareIndex(sql);
  sql.transaction(() => {
    for (const key of keys) {
      sql.exec(
        "DELETE FROM cf_agents_search_fts WHERE rowid IN (SELECT rowid FROM cf_agents_search_entries WHERE label = ?)",
        key
      );
      sql.exec("DELETE FROM cf_agents_search_entries WHERE label = ?", key);
    }
  });
}
