/**
 * Table `assistant_compactions`: the summaries that stand for ranges of messages. Owns its SQL; the session and the compactor call it.
 *
 * New databases key rows by session, so a session reads its own rows only and an overlay costs one written row. A table that the published
 * package has made (key `id`, a rowid, `created_at` as text or in seconds) is used as it is; only when two sessions bring the same id is
 * it copied into ours.
 */
import { ThinkError } from "../../shared/errors/think-error";
import { COMPACTION_LIMITS } from "../../shared/limits";
import { missableTable, type MissableTable } from "../../storage/lazy-table";
import type { Sql, SqlValue } from "../../storage/sql";
import { toMillis } from "../timestamps";
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

const table = (name: string): string => `CREATE TABLE IF NOT EXISTS ${name} (
  session_id TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  summary TEXT NOT NULL,
  from_message_id TEXT NOT NULL,
  to_message_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, id)
) WITHOUT ROWID`;

const COLUMNS = "session_id, id, summary, from_message_id, to_message_id, created_at";

export const COMPACTION_SQL = {
  list: `SELECT id, summary, from_message_id, to_message_id, created_at FROM assistant_compactions
    WHERE session_id = ?`,
  insert: `INSERT INTO assistant_compactions (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING RETURNING id`,
  move: "UPDATE assistant_compactions SET from_message_id = ?, to_message_id = ? WHERE session_id = ? AND id = ?",
  remove: "DELETE FROM assistant_compactions WHERE session_id = ? AND id = ? RETURNING id",
  clear: "DELETE FROM assistant_compactions WHERE session_id = ?"
} as const;

type Row = {
  readonly id: string;
  readonly summary: string;
  readonly from_message_id: string;
  readonly to_message_id: string;
  readonly created_at: SqlValue;
};

export function createCompactionStore(sql: Sql): CompactionStore {
  const rows = missableTable(sql, NAME, () => sql.exec(table(NAME)));
  const list = (sessionId: string) => listRows(rows, sessionId);
  const remove = (sessionId: string, id: string) =>
    rows.query(COMPACTION_SQL.remove, sessionId, id).length > 0;
  return {
    list,
    remove,
    add(sessionId, { id, summary, fromMessageId, toMessageId, createdAt }) {
      sql.transaction(() => {
        const insert = () => {
          const values = [sessionId, id, summary, fromMessageId, toMessageId, createdAt];
          return rows.exec(COMPACTION_SQL.insert, ...values).length > 0;
        };
        if (!insert()) {
          // Either the id is taken here, or the published layout knows it from another session.
          if (list(sessionId).some((known) => known.id === id)) throw taken(id);
          rebuild(sql);
          insert();
        }
        for (const old of list(sessionId).slice(0, -COMPACTION_LIMITS.overlays)) remove(sessionId, old.id);
      });
    },
    clear: (sessionId) => void rows.query(COMPACTION_SQL.clear, sessionId),
    moveEnds(sessionId, deleted, survivors) {
      sql.transaction(() => {
        for (const compaction of list(sessionId)) {
          const { id, fromMessageId, toMessageId } = compaction;
          if (!deleted.has(fromMessageId) && !deleted.has(toMessageId)) continue;
          const ends = survivors(compaction);
          if (ends === null) remove(sessionId, id);
          else rows.exec(COMPACTION_SQL.move, ends.fromMessageId, ends.toMessageId, sessionId, id);
        }
      });
    }
  };
}

function listRows(table: MissableTable, sessionId: string): StoredCompaction[] {
  const rows = table.query<Row>(COMPACTION_SQL.list, sessionId).map((row) => ({
    id: row.id,
    summary: row.summary,
    fromMessageId: row.from_message_id,
    toMessageId: row.to_message_id,
    createdAt: toMillis(row.created_at instanceof ArrayBuffer ? null : row.created_at)
  }));
  // In memory, because one table may hold texts, seconds and milliseconds.
  return rows.sort((left, right) => (isNewer(left, right) ? 1 : -1));
}

function taken(id: string): ThinkError {
  return new ThinkError(`There is a compaction ${JSON.stringify(id)} in this session already.`, {
    code: "invalid-session"
  });
}

/** Copies a table of global ids into one of ids per session. */
function rebuild(sql: Sql): void {
  sql.exec(table("assistant_compactions_by_session"));
  sql.exec(
    `INSERT INTO assistant_compactions_by_session (${COLUMNS})
      SELECT coalesce(session_id, ''), id, summary, from_message_id, to_message_id, coalesce(created_at, 0) FROM assistant_compactions`
  );
  sql.exec("DROP TABLE assistant_compactions");
  sql.exec("ALTER TABLE assistant_compactions_by_session RENAME TO assistant_compactions");
}
