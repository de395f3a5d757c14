/**
 * Table `assistant_fts`: full-text search over the texts of messages. A session is indexed when it is first searched and kept up to date
 * from then on; one that is never searched pays nothing.
 *
 * I1. `assistant_fts_sessions` names the indexed sessions; an index of the published package, which has no such table, is built anew.
 * I2. An index row's rowid is a hash of session and message id, so that replacing one is a lookup and not a scan.
 */
import type { UIMessage } from "ai";
import { SESSION_LIMITS } from "../shared/limits";
import { missableTable, type MissableTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import { readable, type SessionScope } from "./path-reader";
import { SessionStore } from "./session-store";
import { textHash53 } from "./text-hash";
import { toMillis } from "./timestamps";
import type { TreeObserver } from "./tree-observer";

/** A message that a search found. */
export interface SearchResult {
  readonly id: string;
  readonly role: string;
  /** Its text, as far as it is indexed. */
  readonly content: string;
  readonly createdAt?: Date;
  /** Empty for the primary session. */
  readonly sessionId: string;
}

const TABLES = [
  "DROP TABLE IF EXISTS assistant_fts",
  `CREATE VIRTUAL TABLE assistant_fts USING fts5(
    text, id UNINDEXED, session_id UNINDEXED, role UNINDEXED, tokenize = 'porter unicode61')`,
  "CREATE TABLE assistant_fts_sessions (session_id TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID"
];

const FIND = `SELECT f.id, f.session_id, f.role, f.text, m.created_at FROM assistant_fts f
  JOIN assistant_messages m ON m.session_id = f.session_id AND m.id = f.id
  WHERE assistant_fts MATCH ?1 AND (?2 IS NULL OR f.session_id = ?2) ORDER BY rank, f.rowid LIMIT ?3`;

export const SEARCH_SQL = {
  find: FIND,
  known: "SELECT 1 FROM assistant_fts_sessions WHERE session_id = ?",
  put: "INSERT INTO assistant_fts (rowid, text, id, session_id, role) VALUES (?, ?, ?, ?, ?)",
  remove: "DELETE FROM assistant_fts WHERE rowid = ?",
  clear: "DELETE FROM assistant_fts WHERE session_id = ?",
  note: "INSERT INTO assistant_fts_sessions (session_id) VALUES (?)",
  forget: "DELETE FROM assistant_fts_sessions WHERE session_id = ?",
  sources: `SELECT id, content, octet_length(content) AS size FROM assistant_messages
    WHERE session_id = ? AND id > ? ORDER BY id LIMIT 50`
} as const;

/** Which sessions are known to be indexed. */
export type IndexedSessions = Set<string>;

type SourceRow = { id: string; content: string; size: number };
type FoundRow = { id: string; session_id: string; role: string; text: string; created_at: number | string };

export class SearchIndex implements TreeObserver {
  readonly #sql: Sql;
  readonly #scope: SessionScope;
  readonly #sessions: MissableTable;
  readonly #indexed: IndexedSessions;

  /** Indexes of several sessions of one database share `indexed`: what one of them indexes, the others must keep up to date. */
  constructor(sql: Sql, scope: SessionScope, indexed: IndexedSessions = new Set()) {
    this.#sql = sql;
    this.#scope = scope;
    this.#indexed = indexed;
    this.#sessions = missableTable(sql, "assistant_fts_sessions", () =>
      TABLES.forEach((statement) => sql.exec(statement))
    );
  }

  /** Every word must occur; best matches first. In this session, or in all of them, which are named to be indexed first. */
  search(query: string, limit: number, everywhere?: readonly string[]): SearchResult[] {
    const match = typeof query === "string" ? matchAll(query) : "";
    if (match === "" || !(limit >= 1)) return [];
    const sessions = everywhere ?? [this.#scope.id];
    return this.#sql.transaction(() => {
      for (const session of sessions) this.#ensure(session);
      const rows = this.#sql.exec<FoundRow>(
        FIND,
        ...[
          match,
          everywhere ? null : this.#scope.id,
          Math.floor(Math.min(limit, SESSION_LIMITS.searchResults))
        ]
      );
      return rows.map(toResult);
    });
  }

  stored(message: UIMessage): void {
    if (this.#isIndexed(this.#scope.id)) this.#put(this.#scope.id, message);
  }

  removing({ id }: { readonly id: string }): void {
    const session = this.#scope.id;
    if (this.#isIndexed(session)) this.#sql.exec(SEARCH_SQL.remove, rowidOf(session, id));
  }

  copied(): void {
    // Both are told as stored.
  }

  cleared(): void {
    const { id } = this.#scope;
    if (!this.#isIndexed(id)) return;
    this.#sql.exec(SEARCH_SQL.clear, id);
    this.#sessions.query(SEARCH_SQL.forget, id);
    this.#indexed.delete(id);
  }

  /** A transaction was rolled back: what is indexed has to be asked anew. */
  forget(): void {
    this.#indexed.clear();
  }

  #isIndexed(session: string): boolean {
    if (this.#indexed.has(session)) return true;
    // Asked again each time: another object over the same rows may have indexed it. Without the table it costs no row.
    const found = this.#sessions.query(SEARCH_SQL.known, session).length > 0;
    if (found) this.#indexed.add(session);
    return found;
  }

  #ensure(session: string): void {
    if (this.#isIndexed(session)) return;
    // Indexing writes: a session of a newer release is refused first.
    new SessionStore(this.#sql, () => 0).pointer(session);
    this.#sessions.exec(SEARCH_SQL.note, session);
    this.#indexed.add(session);
    const messages = missableTable(this.#sql, "assistant_messages", () => undefined);
    for (let last = ""; ;) {
      const page = messages.query<SourceRow>(SEARCH_SQL.sources, session, last);
      for (const { message } of page.flatMap(readable)) this.#put(session, message);
      const next = page.at(-1)?.id;
      if (next === undefined) return;
      last = next;
    }
  }

  /** The old row always goes first: a second one with its number would be refused. */
  #put(session: string, message: UIMessage): void {
    this.#sql.exec(SEARCH_SQL.remove, rowidOf(session, message.id));
    const text = textOf(message);
    if (text !== "")
      this.#sql.exec(SEARCH_SQL.put, rowidOf(session, message.id), text, message.id, session, message.role);
  }
}

function toResult(row: FoundRow): SearchResult {
  const createdAt = toMillis(row.created_at);
  return {
    ...{ id: row.id, role: row.role, content: row.text, sessionId: row.session_id },
    ...(createdAt > 0 ? { createdAt: new Date(createdAt) } : {})
  };
}

function textOf({ parts }: UIMessage): string {
  const texts = parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []));
  return texts.join("\n").slice(0, SESSION_LIMITS.indexedChars);
}

/** Words as phrases: whatever the query holds, none of it is an operator of the search language. */
export function matchAll(query: string): string {
  return query
    .slice(0, SESSION_LIMITS.queryChars)
    .replaceAll("\0", " ")
    .split(/\s+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, SESSION_LIMITS.queryWords)
    .map((word) => `"${word.replaceAll('"', '""')}"`)
    .join(" ");
}

function rowidOf(session: string, id: string): number {
  return textHash53(`${session.length}:${session}${id}`);
}
