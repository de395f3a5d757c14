/**
 * Table `assistant_sessions`: one row per session with its name and figures, and the end of its active path. Appending a message writes
 * this row too, so that leaf, size and time of the last message cost one row together.
 *
 * I1. A row written by a newer release is refused before anything of the session is read or changed. As long as there is one, sessions
 *     are not listed and none is made: the database belongs to that release.
 * I2. A table of the published package gets the missing columns when they are first missed. A negative `path_count` then says that the
 *     leaf of a session has not been looked for; finding it changes no time.
 */
import { ThinkError } from "../shared/errors/think-error";
import { missableTable } from "../storage/lazy-table";
import type { Sql, SqlRow, SqlValue } from "../storage/sql";
import { toMillis } from "./timestamps";

/** Layout of the session tables. Raise it when an older release could no longer read what this one writes. */
export const SCHEMA_VERSION = 1;

/** Name of a session that nobody named. */
export const DEFAULT_SESSION_NAME = "New Chat";

/** What is known of a session besides its messages. */
export interface SessionInfo {
  readonly id: string;
  readonly name: string;
  readonly parent_session_id: string | null;
  readonly model: string | null;
  readonly source: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly estimated_cost: number;
  /** Why it ended, for example `compaction`; null while it goes on. */
  readonly end_reason: string | null;
  /** Milliseconds since 1970. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** The stored end of the active path. Counts and bytes ride along in the same row, so that a wake knows what to expect. */
export interface LeafPointer {
  readonly id: string;
  /** Messages from the root to the leaf. */
  readonly count: number;
  /** Their stored JSON in UTF-8 bytes. */
  readonly bytes: number;
}

export interface NewSession {
  readonly id: string;
  readonly name: string;
  readonly parentSessionId?: string | null;
  readonly model?: string | null;
  readonly source?: string | null;
  readonly createdAt?: number;
  readonly updatedAt?: number;
}

const TABLE = `CREATE TABLE IF NOT EXISTS assistant_sessions (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  parent_session_id TEXT,
  model TEXT,
  source TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  estimated_cost REAL NOT NULL DEFAULT 0,
  end_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  schema_version INTEGER NOT NULL DEFAULT ${SCHEMA_VERSION},
  leaf_id TEXT,
  path_count INTEGER NOT NULL DEFAULT 0,
  path_bytes INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID`;

/** Columns that earlier layouts may lack. */
const LATER_COLUMNS: Readonly<Record<string, string>> = {
  parent_session_id: "TEXT",
  model: "TEXT",
  source: "TEXT",
  input_tokens: "INTEGER NOT NULL DEFAULT 0",
  output_tokens: "INTEGER NOT NULL DEFAULT 0",
  estimated_cost: "REAL NOT NULL DEFAULT 0",
  end_reason: "TEXT",
  schema_version: `INTEGER NOT NULL DEFAULT ${SCHEMA_VERSION}`,
  leaf_id: "TEXT",
  path_count: "INTEGER NOT NULL DEFAULT -1",
  path_bytes: "INTEGER NOT NULL DEFAULT 0"
};

const INFO =
  "id, name, parent_session_id, model, source, input_tokens, output_tokens, estimated_cost, end_reason, created_at, updated_at, schema_version";

export const SESSION_SQL = {
  get: `SELECT ${INFO} FROM assistant_sessions WHERE id = ?`,
  has: "SELECT 1 FROM assistant_sessions WHERE id = ?",
  list: `SELECT ${INFO} FROM assistant_sessions`,
  insert: `INSERT INTO assistant_sessions (id, name, parent_session_id, model, source, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  rename: "UPDATE assistant_sessions SET name = ?, updated_at = ? WHERE id = ?",
  end: "UPDATE assistant_sessions SET end_reason = ?, updated_at = ? WHERE id = ?",
  use: `UPDATE assistant_sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
    estimated_cost = estimated_cost + ?, updated_at = ? WHERE id = ?`,
  touch: "UPDATE assistant_sessions SET updated_at = ? WHERE id = ?",
  remove: "DELETE FROM assistant_sessions WHERE id = ?",
  pointer: "SELECT leaf_id, path_count, path_bytes, schema_version FROM assistant_sessions WHERE id = ?",
  savePointer: `INSERT INTO assistant_sessions (id, name, created_at, updated_at, leaf_id, path_count, path_bytes)
    VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6)
    ON CONFLICT (id) DO UPDATE SET updated_at = ?3, leaf_id = ?4, path_count = ?5, path_bytes = ?6`,
  adoptPointer: `INSERT INTO assistant_sessions (id, name, created_at, updated_at, leaf_id, path_count, path_bytes)
    VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6)
    ON CONFLICT (id) DO UPDATE SET leaf_id = ?4, path_count = ?5, path_bytes = ?6`
} as const;

type InfoRow = SqlRow & { id: string; schema_version: number };

export class SessionStore {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #exec: Sql["exec"];
  readonly #query: Sql["exec"];

  constructor(sql: Sql, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    const table = missableTable(sql, "assistant_sessions", () => sql.exec(TABLE));
    this.#exec = (statement, ...bindings) => this.#upgraded(() => table.exec(statement, ...bindings));
    this.#query = (statement, ...bindings) => this.#upgraded(() => table.query(statement, ...bindings));
  }

  get(id: string): SessionInfo | undefined {
    return this.#query<InfoRow>(SESSION_SQL.get, id).map(toInfo)[0];
  }

  /** Whether there is such a row, of whatever release. */
  has(id: string): boolean {
    return this.#query(SESSION_SQL.has, id).length > 0;
  }

  /** The one that changed last comes first. */
  list(): SessionInfo[] {
    const byTime = (a: SessionInfo, b: SessionInfo) =>
      b.updated_at - a.updated_at || b.created_at - a.created_at || (a.id < b.id ? -1 : 1);
    return this.#query<InfoRow>(SESSION_SQL.list).map(toInfo).toSorted(byTime);
  }

  /** An id that exists keeps its row. */
  create({ id, name, parentSessionId, model, source, createdAt, updatedAt }: NewSession): void {
    const created = createdAt ?? this.#now();
    const details: SqlValue[] = [parentSessionId ?? null, model ?? null, source ?? null];
    this.#exec(SESSION_SQL.insert, id, name, ...details, created, updatedAt ?? created);
  }

  rename(id: string, name: string): void {
    this.#query(SESSION_SQL.rename, name, this.#now(), id);
  }

  end(id: string, reason: string): void {
    this.#query(SESSION_SQL.end, reason, this.#now(), id);
  }

  addUsage(id: string, inputTokens: number, outputTokens: number, cost: number): void {
    this.#query(SESSION_SQL.use, inputTokens, outputTokens, cost, this.#now(), id);
  }

  touch(id: string, at = this.#now()): void {
    this.#query(SESSION_SQL.touch, at, id);
  }

  remove(id: string): void {
    this.#query(SESSION_SQL.remove, id);
  }

  /** Undefined when nobody has looked for the leaf yet; null when the session has no messages. */
  pointer(id: string): LeafPointer | null | undefined {
    const [row] = this.#query<{
      leaf_id: string | null;
      path_count: number;
      path_bytes: number;
      schema_version: number;
    }>(SESSION_SQL.pointer, id);
    if (!row) return undefined;
    refuseNewer(id, row.schema_version);
    if (row.leaf_id === null) return row.path_count < 0 ? undefined : null;
    return { id: row.leaf_id, count: row.path_count, bytes: row.path_bytes };
  }

  /** Makes the session's row when there is none. */
  savePointer(id: string, pointer: LeafPointer | null): void {
    this.#savePointer(SESSION_SQL.savePointer, id, pointer);
  }

  /** Remembers a leaf that was found, not made: a session is not newer for having been read. */
  adoptPointer(id: string, pointer: LeafPointer): void {
    this.#savePointer(SESSION_SQL.adoptPointer, id, pointer);
  }

  #savePointer(statement: string, id: string, pointer: LeafPointer | null): void {
    const end: SqlValue[] = [pointer?.id ?? null, pointer?.count ?? 0, pointer?.bytes ?? 0];
    this.#exec(statement, id, DEFAULT_SESSION_NAME, this.#now(), ...end);
  }

  #upgraded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Error) || !/no such column|has no column named/.test(error.message)) throw error;
      const present = this.#sql.exec<{ name: string }>("PRAGMA table_info('assistant_sessions')");
      const missing = Object.entries(LATER_COLUMNS).filter(
        ([column]) => !present.some(({ name }) => name === column)
      );
      if (missing.length === 0) throw error;
      for (const [column, type] of missing) {
        this.#sql.exec(`ALTER TABLE assistant_sessions ADD COLUMN ${column} ${type}`);
      }
      return work();
    }
  }
}

function refuseNewer(id: string, version: number): void {
  if (version <= SCHEMA_VERSION) return;
  const session = id === "" ? "This conversation" : `Session ${JSON.stringify(id)}`;
  throw new ThinkError(
    `${session} was written by a newer release of @cloudflare/think (layout ${version}, this release knows ${SCHEMA_VERSION}). Deploy that release again, or start a new object.`,
    { code: "newer-database" }
  );
}

function toInfo(row: InfoRow): SessionInfo {
  refuseNewer(row.id, row.schema_version);
  const text = (value: SqlValue | undefined) => (typeof value === "string" ? value : null);
  const time = (value: SqlValue | undefined) => toMillis(value instanceof ArrayBuffer ? null : value);
  return {
    id: row.id,
    name: text(row.name) ?? DEFAULT_SESSION_NAME,
    parent_session_id: text(row.parent_session_id),
    model: text(row.model),
    source: text(row.source),
    input_tokens: Number(row.input_tokens ?? 0),
    output_tokens: Number(row.output_tokens ?? 0),
    estimated_cost: Number(row.estimated_cost ?? 0),
    end_reason: text(row.end_reason),
    created_at: time(row.created_at),
    updated_at: time(row.updated_at)
  };
}
