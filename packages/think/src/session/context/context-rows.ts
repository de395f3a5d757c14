/** What context blocks left in the database, for the deletion of a session. */
import type { Sql } from "../../storage/sql";
import { deleteBlockRows } from "./agent-context-provider";
import { deleteSearchRows } from "./agent-search-provider";

/** Deletes the rows of blocks, prompts and search entries that are stored under these keys. */
export function deleteContextRows(sql: Sql, keys: readonly string[]): void {
  deleteBlockRows(sql, keys);
  deleteSearchRows(sql, keys);
}
