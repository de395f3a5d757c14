/** What context blocks have in the database, for sessions as a whole. */
import { missableTable } from "../../storage/lazy-table";
import type { Sql } from "../../storage/sql";
import { deleteBlockRows, setBlockRow } from "./agent-context-provider";
import { deleteSearchRows } from "./agent-search-provider";

/** Deletes the rows of blocks, prompts and search entries that are stored under these keys. */
export function deleteContextRows(sql: Sql, keys: readonly string[]): void {
  deleteBlockRows(sql, keys);
  deleteSearchRows(sql, keys);
}

/** Stores contents of durable blocks, without their providers. */
export function storeBlocks(
  sql: Sql,
  blocks: readonly { readonly key: string; readonly content: string }[]
): void {
  for (const { key, content } of blocks) setBlockRow(sql, key, content);
}

/** Keys under which blocks, prompts and search entries are stored and that end so, whoever's they are. Reads all of them: for deletions. */
export function keysEndingWith(sql: Sql, suffix: string): string[] {
  const keys = ["cf_agents_context_blocks", "cf_agents_search_entries"].flatMap((name) =>
    missableTable(sql, name, () => undefined).query<{ label: string }>(
      `SELECT DISTINCT label FROM ${name} WHERE substr(label, -length(?1)) = ?1`,
      suffix
    )
  );
  return keys.map(({ label }) => label);
}
