/**
 * The durable context blocks of sessions that need not be active: for export, import and deletion. A block belongs to a session by the
 * end of its key. The primary session's keys have no such end: of its blocks, those are known that the agent's session has now.
 *
 * I1. A key whose end fits several sessions belongs to the one with the longest id; one that is itself a label of now, to the primary one.
 */
import { missableTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import { PROMPT_LABEL } from "./context/block";
import { deleteContextRows, keysEndingWith, storeBlocks } from "./context/context-rows";
import { contextKey, promptKey } from "./session-parts";

export class ContextArchive {
  readonly #sql: Sql;
  readonly #labels: () => readonly string[];

  constructor(sql: Sql, labels: () => readonly string[]) {
    this.#sql = sql;
    this.#labels = labels;
  }

  /** Stored blocks of a session in the order of their labels. */
  list(sessionId: string): { readonly label: string; readonly content: string }[] {
    const { query } = missableTable(this.#sql, "cf_agents_context_blocks", () => undefined);
    return [...this.#labels()].toSorted().flatMap((label) => {
      const [row] = query<{ content: string }>(
        "SELECT content FROM cf_agents_context_blocks WHERE label = ?",
        contextKey(label, sessionId)
      );
      return row ? [{ label, content: row.content }] : [];
    });
  }

  /** Stores blocks of a session that is being made. */
  store(sessionId: string, blocks: readonly { readonly label: string; readonly content: string }[]): void {
    storeBlocks(
      this.#sql,
      blocks.map(({ label, content }) => ({ key: contextKey(label, sessionId), content }))
    );
  }

  /** Removes blocks, search entries and the frozen prompt of a session. `isSession` says whether there is another one of an id. */
  remove(sessionId: string, isSession: (id: string) => boolean): void {
    const keys = sessionId === "" ? this.#labels() : this.#keysOf(sessionId, isSession);
    deleteContextRows(this.#sql, [...keys, promptKey(sessionId)]);
  }

  #keysOf(sessionId: string, isSession: (id: string) => boolean): string[] {
    const end = contextKey("", sessionId);
    const primary = new Set(this.#labels());
    return keysEndingWith(this.#sql, end).filter(
      (key) =>
        !key.startsWith(PROMPT_LABEL) &&
        !primary.has(key) &&
        !longerEnds(key, end).some((other) => isSession(other))
    );
  }
}

/** The ids of sessions to which the key could belong as well, because they end like the one that `end` names. */
function longerEnds(key: string, end: string): string[] {
  const ids: string[] = [];
  const last = key.length - end.length;
  // The first character belongs to the label, which is never empty.
  for (let at = key.indexOf("_", 1); at >= 0 && at < last; at = key.indexOf("_", at + 1))
    ids.push(key.slice(at + 1));
  return ids;
}
