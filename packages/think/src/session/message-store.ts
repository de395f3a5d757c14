/**
 * Table `assistant_messages`: the conversation tree. Each row is one message and points to its parent; a path from a leaf to
 * the root is one conversation. Owns its SQL; knows nothing of turns.
 *
 * The primary key is the only index and the table has no rowid, so a message costs one written row.
 */
import type { UIMessage } from "ai";
import { lazyTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";

export interface MessageStore {
  /** The messages from the root to `leafId`; empty when it is unknown. */
  path(leafId: string): UIMessage[];
  /** Stores a new message; an id that exists keeps its first content. Returns whether it was stored. */
  insert(message: UIMessage, parentId: string | null): boolean;
  /** Replaces the content of a stored message. Returns whether there was one. */
  update(message: UIMessage): boolean;
  /** Removes every message. */
  clear(): void;
}

export interface MessageStoreOptions {
  readonly sql: Sql;
  readonly now: () => number;
}

/** Longest path that is followed. A longer one is a cycle or damage. */
const MAX_PATH = 100_000;

const TABLE = `CREATE TABLE IF NOT EXISTS assistant_messages (
  id TEXT PRIMARY KEY NOT NULL,
  session_id TEXT NOT NULL DEFAULT '',
  parent_id TEXT,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID`;

const PATH = `WITH RECURSIVE path (parent_id, content, depth) AS (
  SELECT parent_id, content, 0 FROM assistant_messages WHERE id = ?
  UNION ALL
  SELECT m.parent_id, m.content, path.depth + 1
  FROM path JOIN assistant_messages m ON m.id = path.parent_id
  WHERE path.depth < ${MAX_PATH}
) SELECT content FROM path ORDER BY depth DESC`;

export function createMessageStore({ sql, now }: MessageStoreOptions): MessageStore {
  const ensureTable = lazyTable(sql, TABLE);
  return {
    path(leafId) {
      ensureTable();
      return sql.exec<{ content: string }>(PATH, leafId).map((row) => JSON.parse(row.content) as UIMessage);
    },
    insert(message, parentId) {
      ensureTable();
      const stored = sql.exec(
        `INSERT INTO assistant_messages (id, parent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO NOTHING RETURNING id`,
        message.id,
        parentId,
        message.role,
        JSON.stringify(message),
        now()
      );
      return stored.length > 0;
    },
    update(message) {
      ensureTable();
      const changed = sql.exec(
        "UPDATE assistant_messages SET content = ? WHERE id = ? RETURNING id",
        JSON.stringify(message),
        message.id
      );
      return changed.length > 0;
    },
    clear() {
      ensureTable();
      sql.exec("DELETE FROM assistant_messages");
    }
  };
}
