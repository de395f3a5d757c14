/**
 * Table `assistant_compactions`: the summaries that stand for ranges of messages. Owns its SQL; the session and the compactor call it.
 *
 * New databases key rows by session, so a session reads its own rows only and an overlay costs one written row. A table that the published
 * package has made (key `id`, a rowid, `created_at` as text or in seconds) is used as it is.
 */
import { COMPACTION_LIMITS } from "../../shared/limits";
import { missableTable, type MissableTable } from "../../storage/lazy-table";
import type { Sql, SqlValue } from "../../storage/sql";
import { isNewer, type StoredCompaction } from "./overlay";

export interface CompactionStore {
  /** The session's overlays, oldest first. Costs nothing before the first compaction. */
  list(sessionId: string): StoredCompaction[];
  /** Stores an overlay; beyond 50 the session's oldest go. */
  add(sessionId: string, compaction: StoredCompaction): void;
  /** Whether there was such an overlay. */
  remove(sessionId: string, id: string): boolean;
  /** Forgets all overlays of the session. */
  clear(sessionId: string): void;
  /**
   * Call it when messages are deleted: for each overlay that begins or ends with one of them, `survivors` says what its range is now,
   * or null when nothing of it is left.
   */
  moveEnds(
    sessionId: string,
    deleted: ReadonlySet<string>,
    survivors: (compaction: StoredCompaction) => CompactionEnds | null
  ): void;
}

export type CompactionEnds = Pick<StoredCompaction, "fromMessageId" | "toMessageId">;

const NAME = "assistant_compactions";

const TABLE = `CREATE TABLE IF NOT EXISTS assistant_compactions (
  session_id TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  summary TEXT NOT NULL,
  from_message_id TEXT NOT NULL,
  to_message_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, id)
) WITHOUT ROWID`;

const LIST = `SELECT id, summary, from_message_id, to_message_id, created_at FROM assistant_compactions
  WHERE session_id = ?`;

const INSERT = `INSERT INTO assistant_compactions (session_id, id, summary, from_message_id, to_message_id, created_at)
  VALUES (?, ?, ?, ?, ?, ?)`;

const MOVE =
  "UPDATE assistant_compactions SET from_message_id = ?, to_message_id = ? WHERE session_id = ? AND id = ?";

const REMOVE = "DELETE FROM assistant_compactions WHERE session_id = ? AND id = ? RETURNING id";

const CLEAR = "DELETE FROM assistant_compactions WHERE session_id = ?";

type Row = {
  readonly id: string;
  readonly summary: string;
  readonly from_message_id: string;
  readonly to_message_id: string;
  readonly created_at: SqlValue;
};

export function createCompactionStore(sql: Sql): CompactionStore {
  const table = missableTable(sql, NAME, () => sql.exec(TABLE));
  const list = (sessionId: string) => listRows(table, sessionId);
  const remove = (sessionId: string, id: string) => table.query(REMOVE, sessionId, id).length > 0;
  return {
    list,
    remove,
    add(sessionId, { id, summary, fromMessageId, toMessageId, createdAt }) {
      sql.transaction(() => {
        table.exec(INSERT, sessionId, id, summary, fromMessageId, toMessageId, createdAt);
        for (const old of list(sessionId).slice(0, -COMPACTION_LIMITS.overlays)) remove(sessionId, old.id);
      });
    },
    clear: (sessionId) => void table.query(CLEAR, sessionId),
    moveEnds(sessionId, deleted, survivors) {
      sql.transaction(() => {
        for (const compaction of list(sessionId)) {
          const { id, fromMessageId, toMessageId } = compaction;
          if (!deleted.has(fromMessageId) && !deleted.has(toMessageId)) continue;
          const ends = survivors(compaction);
          if (ends === null) remove(sessionId, id);
          else table.exec(MOVE, ends.fromMessageId, ends.toMessageId, sessionId, id);
        }
      });
    }
  };
}

function listRows(table: MissableTable, sessionId: string): StoredCompaction[] {
  const rows = table.query<Row>(LIST, sessionId).map((row) => ({
    id: row.id,
    summary: row.summary,
    fromMessageId: row.from_message_id,
    toMessageId: row.to_message_id,
    createdAt: milliseconds(row.created_at)
  }));
  // In memory, because one table may hold texts, seconds and milliseconds.
  return rows.sort((left, right) => (isNewer(left, right) ? 1 : -1));
}

/** Milliseconds are written; `2026-11-18 10:00:00` (UTC) and whole seconds are read too. What is neither is the oldest. */
function milliseconds(value: SqlValue): number {
  const number = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number === "number") return number < SECONDS_END ? number * 1000 : number;
  if (typeof number !== "string") return 0;
  const isBare = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?$/.test(number);
  return Date.parse(isBare ? `${number.replace(" ", "T")}Z` : number) || 0;
}

/** Seconds reach it in the year 5138, milliseconds did in 1973. */
const SECONDS_END = 100_000_000_000;
