/**
 * Table `assistant_messages`: the conversation tree of each session. A row is one message and points to its parent; a path from a leaf
 * to the root is one conversation. Owns its SQL; knows nothing of turns.
 *
 * I1. The primary key (session, id) is the only index and the table has no rowid: a message costs one written row.
 * I2. Only `scan`, `links`, `childrenOf`, `rows` and `count` read a whole session, and none is part of a turn.
 * I3. Of two messages that are stored in one life, the later one has the later time.
 * I4. The published layout (global ids) is used as it is. Only when two sessions bring the same id is it copied into ours.
 */
import { missableTable, type MissableTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import type { StoredMessage } from "./message-path";
import type { PathRow } from "./path-query";
import {
  createPathReader,
  exists,
  readable,
  type PathReader,
  type PathWindow,
  type SessionScope
} from "./path-reader";
import { scanPath, type PathSize } from "./path-scan";
import type { RowMessage } from "./row-limit";
import { toMillis } from "./timestamps";

/** A message's place in the tree. */
export interface MessageLink {
  readonly id: string;
  readonly parentId: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** A message with its place, for export. */
export interface TreeRow extends MessageLink {
  readonly role: string;
  readonly content: string;
}

export interface MessageStore extends PathReader {
  get(id: string): StoredMessage | undefined;
  has(id: string): boolean;
  link(id: string): MessageLink | undefined;
  /** A path that has no branches beside it, for one row per message; undefined when that is not so after all. */
  scan(path: PathSize): PathWindow | undefined;
  /** Stores a new message and returns its bytes; an id that exists keeps its first content, and nothing is returned. */
  insert(row: RowMessage, parentId: string | null, createdAt?: number): number | undefined;
  /** Replaces a stored message and returns its bytes; undefined when there is none. */
  update(row: RowMessage): number | undefined;
  /** The same, as a message that is new now. */
  renew(row: RowMessage): number | undefined;
  /** Hangs a message below another one, or makes it a root. */
  reparent(id: string, parentId: string | null): void;
  /** Gives a message another time, in milliseconds. */
  retime(id: string, createdAt: number): void;
  /** Removes one message. Its children still name it: hang them elsewhere first. */
  remove(id: string): void;
  /** Children of a message, found by reading the session. */
  childrenOf(parentId: string): string[];
  /** Every message's place, oldest first: reads the whole session. */
  links(): MessageLink[];
  /** Every message in the order of ids, read in pages. */
  rows(): Generator<TreeRow>;
  /** Whether the session has no messages. */
  isEmpty(): boolean;
  /** Number of messages of the session, all branches. Reads the keys of the session. */
  count(): number;
  /** Removes every message of the session. */
  clear(): void;
}

export interface MessageStoreOptions {
  readonly sql: Sql;
  readonly now: () => number;
  /** Asked at each call: it may change. Default: the primary session. */
  readonly scope?: SessionScope;
}

const NAME = "assistant_messages";

const table = (name: string): string => `CREATE TABLE IF NOT EXISTS ${name} (
  session_id TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  parent_id TEXT,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) WITHOUT ROWID`;

/** Rows of one page of an export. */
const PAGE_ROWS = 50;

export const MESSAGE_SQL = {
  insert: `INSERT INTO assistant_messages (session_id, id, parent_id, role, content, created_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING octet_length(content) AS size`,
  update:
    "UPDATE assistant_messages SET role = ?, content = ? WHERE session_id = ? AND id = ? RETURNING octet_length(content) AS size",
  renew:
    "UPDATE assistant_messages SET role = ?, content = ?, created_at = ? WHERE session_id = ? AND id = ? RETURNING octet_length(content) AS size",
  get: "SELECT id, content, octet_length(content) AS size FROM assistant_messages WHERE session_id = ? AND id = ?",
  link: "SELECT id, parent_id, created_at FROM assistant_messages WHERE session_id = ? AND id = ?",
  reparent: "UPDATE assistant_messages SET parent_id = ? WHERE session_id = ? AND id = ?",
  retime: "UPDATE assistant_messages SET created_at = ? WHERE session_id = ? AND id = ?",
  remove: "DELETE FROM assistant_messages WHERE session_id = ? AND id = ?",
  children:
    "SELECT id, parent_id, created_at FROM assistant_messages WHERE session_id = ? AND parent_id = ? ORDER BY id",
  links: "SELECT id, parent_id, created_at FROM assistant_messages WHERE session_id = ?",
  page: `SELECT id, parent_id, role, created_at, content FROM assistant_messages
    WHERE session_id = ? AND id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
  any: "SELECT 1 FROM assistant_messages WHERE session_id = ? LIMIT 1",
  count: "SELECT count(*) AS n FROM assistant_messages WHERE session_id = ?",
  clear: "DELETE FROM assistant_messages WHERE session_id = ?"
} as const;

type LinkRow = { id: string; parent_id: string | null; created_at: number | string };

export function createMessageStore({ sql, now, scope = { id: "" } }: MessageStoreOptions): MessageStore {
  const messages = missableTable(sql, NAME, () => sql.exec(table(NAME)));
  const { exec, query } = messages;
  const sizeOf = (rows: { size: number }[]) => rows[0]?.size;
  // Time stands still while an object works, and messages of one request must keep their order.
  let newest = 0;
  const stamp = () => (newest = Math.max(now(), newest + 1));
  const has = (id: string) => exists(query, scope, id);

  return {
    ...createPathReader(query, scope),
    has,
    scan: (path) => scanPath(query, scope, path),
    get: (id) => query<PathRow>(MESSAGE_SQL.get, scope.id, id).flatMap(readable)[0],
    link: (id) => query<LinkRow>(MESSAGE_SQL.link, scope.id, id).map(toLink)[0],
    insert({ message, json }, parentId, createdAt = stamp()) {
      const insert = () =>
        sizeOf(exec(MESSAGE_SQL.insert, scope.id, message.id, parentId, message.role, json, createdAt));
      const size = insert();
      // Either the id is taken here, or the published layout knows it from another session.
      if (size !== undefined || has(message.id)) return size;
      rebuild(sql);
      return insert();
    },
    update: ({ message, json }) => sizeOf(exec(MESSAGE_SQL.update, message.role, json, scope.id, message.id)),
    renew: ({ message, json }) =>
      sizeOf(exec(MESSAGE_SQL.renew, message.role, json, stamp(), scope.id, message.id)),
    reparent: (id, parentId) => void exec(MESSAGE_SQL.reparent, parentId, scope.id, id),
    retime: (id, createdAt) => void query(MESSAGE_SQL.retime, createdAt, scope.id, id),
    remove: (id) => void query(MESSAGE_SQL.remove, scope.id, id),
    childrenOf: (parentId) =>
      query<LinkRow>(MESSAGE_SQL.children, scope.id, parentId)
        .map(toLink)
        .toSorted(byTime)
        .map(({ id }) => id),
    links: () => readLinks(sql, messages, scope),
    rows: () => rowsById(query, scope),
    isEmpty: () => query(MESSAGE_SQL.any, scope.id).length === 0,
    count: () => query<{ n: number }>(MESSAGE_SQL.count, scope.id)[0]?.n ?? 0,
    clear: () => void query(MESSAGE_SQL.clear, scope.id)
  };
}

function toLink({ id, parent_id, created_at }: LinkRow): MessageLink {
  return { id, parentId: parent_id, createdAt: toMillis(created_at) };
}

/** In memory, because one table may hold texts, seconds and milliseconds. Stable: equal times keep their order. */
const byTime = (a: MessageLink, b: MessageLink) => a.createdAt - b.createdAt;

function* rowsById(query: Sql["exec"], scope: SessionScope): Generator<TreeRow> {
  type Row = LinkRow & { role: string; content: string };
  for (let last = ""; ;) {
    const page: Row[] = query<Row>(MESSAGE_SQL.page, scope.id, last);
    for (const row of page) yield { ...toLink(row), role: row.role, content: row.content };
    if (page.length < PAGE_ROWS) return;
    last = page.at(-1)?.id ?? last;
  }
}

/** Runs once per session of a database that has no leaf pointer, which is how the published package leaves it. */
function readLinks(sql: Sql, { query }: MissableTable, scope: SessionScope): MessageLink[] {
  if (query("SELECT 1 FROM assistant_messages LIMIT 1").length === 0) return [];
  const schema = query<{ type: string; name: string; sql: string }>(
    "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = 'assistant_messages' AND sql IS NOT NULL"
  );
  const hasRowid = !schema.some((entry) => entry.type === "table" && entry.sql.endsWith("WITHOUT ROWID"));
  // `created_at` counts whole seconds in the published layout, so rowids break ties.
  const order = `ORDER BY ${hasRowid ? "rowid" : "id"}`;
  const links = query<LinkRow>(`${MESSAGE_SQL.links} ${order}`, scope.id).map(toLink).toSorted(byTime);
  // Nothing of ours reads by them, and each index would cost one more row per message.
  for (const { type, name } of schema) {
    if (type === "index") sql.exec(`DROP INDEX "${name.replaceAll('"', '""')}"`);
  }
  return links;
}

/** Copies a table of global ids into one of ids per session. */
function rebuild(sql: Sql): void {
  const columns = "session_id, id, parent_id, role, created_at, content";
  sql.exec(table("assistant_messages_by_session"));
  sql.exec(
    `INSERT INTO assistant_messages_by_session (${columns}) SELECT ${columns} FROM assistant_messages`
  );
  sql.exec("DROP TABLE assistant_messages");
  sql.exec("ALTER TABLE assistant_messages_by_session RENAME TO assistant_messages");
}
