/**
 * Table `assistant_messages`: the conversation tree. Each row is one message and points to its parent; a path from a leaf to
 * the root is one conversation. Owns its SQL; knows nothing of turns.
 *
 * The primary key is the only index and the table has no rowid, so a message costs one written row. No statement scans the table,
 * apart from `latestLeaf`, which reads what an earlier release of the published package left and runs once.
 */
import { missableTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import type { StoredMessage } from "./message-path";
import type { PathRow } from "./path-query";
import { createPathReader, exists, readable, type PathReader } from "./path-reader";
import type { RowMessage } from "./row-limit";

export interface MessageStore extends PathReader {
  get(id: string): StoredMessage | undefined;
  has(id: string): boolean;
  /** Stores a new message and returns its bytes; an id that exists keeps its first content, and nothing is returned. */
  insert(row: RowMessage, parentId: string | null): number | undefined;
  /** Replaces a stored message and returns its bytes; undefined when there is none. */
  update(row: RowMessage): number | undefined;
  /** The newest message without children, for a database that has no stored leaf; null when there are no messages. */
  latestLeaf(): string | null;
  /** Removes every message. */
  clear(): void;
}

export interface MessageStoreOptions {
  readonly sql: Sql;
  readonly now: () => number;
}

const NAME = "assistant_messages";

const TABLE = `CREATE TABLE IF NOT EXISTS assistant_messages (
  id TEXT PRIMARY KEY NOT NULL,
  session_id TEXT NOT NULL DEFAULT '',
  parent_id TEXT,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID`;

const INSERT = `INSERT INTO assistant_messages (id, parent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING RETURNING octet_length(content) AS size`;

const UPDATE =
  "UPDATE assistant_messages SET role = ?, content = ? WHERE id = ? RETURNING octet_length(content) AS size";

const GET = "SELECT id, content, octet_length(content) AS size FROM assistant_messages WHERE id = ?";

export function createMessageStore({ sql, now }: MessageStoreOptions): MessageStore {
  const table = missableTable(sql, NAME, () => sql.exec(TABLE));

  return {
    ...createPathReader(table.query),
    has: (id) => exists(table.query, id),
    get: (id) => table.query<PathRow>(GET, id).flatMap(readable)[0],
    insert({ message, json }, parentId) {
      return table.exec<{ size: number }>(INSERT, message.id, parentId, message.role, json, now())[0]?.size;
    },
    update({ message, json }) {
      return table.exec<{ size: number }>(UPDATE, message.role, json, message.id)[0]?.size;
    },
    latestLeaf: () => latestLeaf(sql, table.query),
    clear: () => void table.query("DELETE FROM assistant_messages")
  };
}

/** Runs once per database, before the first leaf is stored; every later load knows the leaf. */
function latestLeaf(sql: Sql, query: Sql["exec"]): string | null {
  if (query("SELECT 1 FROM assistant_messages LIMIT 1").length === 0) return null;
  const schema = query<{ type: string; name: string; sql: string }>(
    "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = 'assistant_messages' AND sql IS NOT NULL"
  );
  const isOurs = schema.some((entry) => entry.type === "table" && entry.sql.endsWith("WITHOUT ROWID"));
  // `created_at` counts whole seconds in the published layout, so rowids break ties.
  const [leaf] = query<{ id: string }>(
    `SELECT id FROM assistant_messages m WHERE session_id = ''
     AND NOT EXISTS (SELECT 1 FROM assistant_messages child WHERE child.parent_id = m.id)
     ORDER BY created_at DESC, ${isOurs ? "id" : "rowid"} DESC LIMIT 1`
  );
  // Nothing else reads by parent or session, and each index would cost one more row per message.
  for (const { type, name } of schema) {
    if (type === "index") sql.exec(`DROP INDEX "${name.replaceAll('"', '""')}"`);
  }
  return leaf?.id ?? null;
}
