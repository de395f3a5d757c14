/**
 * The durable context blocks of sessions that need not be active: for export, import and deletion. A block belongs to a session by the
 * end of its key. The primary session's keys have no such end: of its blocks, those are known that the agent's session has now.
 */
import { missableTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import { deleteContextRows, keysEndingWith } from "./context/context-rows";
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

  /** Removes blocks, search entries and the frozen prompt of a session. */
  remove(sessionId: string): void {
    const keys =
      sessionId === ""
        ? [...this.#labels(), promptKey("")]
        : keysEndingWith(this.#sql, contextKey("", sessionId));
    deleteContextRows(this.#sql, keys);
  }
}
