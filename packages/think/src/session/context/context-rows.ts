/** What context blocks left in the database, for the deletion of a session. */
import { missableTable } from "../../storage/lazy-table";
import type { Sql } from "../../storage/sql";
import { deleteBlockRows } from "./agent-context-provider";
import { deleteSearchRows } from "./agent-search-provider";

/** Deletes the rows of blocks, prompts and search entries that are stored under these keys. */
export function deleteContextRows(sql: Sql, keys: readonly string[]): void {
  deleteBlockRows(sql, keys);
  deleteSearchRows(sql, keys);
}

/** Keys under which blocks, prompts and search entries are stored and that end so. Reads all of them: for deletions. */
export function keysEndingWith(sql: Sql, suffix: string): string[] {
  const keys = ["cf_agents_context_blocks", "cf_agents_search_entries"].flatMap((name) =>
    missableTable(sql, name, () => undefined).query<{ label: string }>(
      `SELECT DISTINCT label FROM ${name} WHERE substr(label, -length(?1)) = ?1`,
      suffix
    )
  );
  return keys.map(({ label }) => label);
}
