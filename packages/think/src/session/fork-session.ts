/**
 * Copies the path to a message into a new session: with new ids, and with summaries as ordinary messages, so that neither session can
 * change the other.
 */
import type { UIMessage } from "ai";
import type { Ids } from "../shared/clock";
import type { Sql } from "../storage/sql";
import type { MessageStore } from "./message-store";
import { fitRow } from "./row-limit";
import type { NewSession, SessionStore } from "./session-store";

export interface ForkTarget {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly sessions: SessionStore;
  /** Messages of the new session. */
  readonly store: Pick<MessageStore, "insert">;
}

export function forkSession(
  path: readonly UIMessage[],
  session: NewSession,
  { sql, ids, sessions, store }: ForkTarget
): void {
  sql.transaction(() => {
    sessions.create(session);
    let parentId: string | null = null;
    let bytes = 0;
    for (const message of path) {
      const id = ids.next();
      bytes += store.insert(fitRow({ ...message, id }), parentId) ?? 0;
      parentId = id;
    }
    if (parentId !== null) sessions.savePointer(session.id, { id: parentId, count: path.length, bytes });
  });
}
