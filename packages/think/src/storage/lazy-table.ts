/**
 * Tables are made on first use: an object that never chats (a child that only runs tools, say) pays for none.
 */
import type { Sql } from "./sql";

/** Returns a function that creates the table once per instance, on its first call. */
export function lazyTable(sql: Sql, ...statements: readonly string[]): () => void {
  let ready = false;
  return () => {
    if (ready) return;
    for (const statement of statements) sql.exec(statement);
    ready = true;
  };
}
