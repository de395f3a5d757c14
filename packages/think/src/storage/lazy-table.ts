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

/** A table that is made when a statement misses it. A wake then costs no `CREATE`, and one that was rolled back is made anew. */
export interface MissableTable {
  /** Runs a statement that needs the table; makes it first when it is missing. */
  readonly exec: Sql["exec"];
  /** Runs a query; a table that is missing has no rows. */
  readonly query: Sql["exec"];
}

/** `create` runs each time the table is found missing. */
export function missableTable(sql: Sql, name: string, create: () => void): MissableTable {
  return {
    exec(statement, ...bindings) {
      try {
        return sql.exec(statement, ...bindings);
      } catch (error) {
        if (!isMissing(error, name)) throw error;
        create();
        return sql.exec(statement, ...bindings);
      }
    },
    query(statement, ...bindings) {
      try {
        return sql.exec(statement, ...bindings);
      } catch (error) {
        if (!isMissing(error, name)) throw error;
        return [];
      }
    }
  };
}

/** SQLite has one error code for all mistakes in a statement; only its text names this one. */
function isMissing(error: unknown, name: string): boolean {
  return error instanceof Error && error.message.includes(`no such table: ${name}`);
}
