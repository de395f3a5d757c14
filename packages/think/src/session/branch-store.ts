/**
 * Table `assistant_branches`: where the tree of a session forks, and what people call the forks. Ordinary messages have no row here, so
 * a conversation without branches pays nothing and needs no index by parent.
 *
 * I1. A message with several children has a row for each of them.
 * I2. A fork that is not on the active path knows the leaf at which it was left: choosing it again goes back there.
 */
import { missableTable, type MissableTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import type { SessionScope } from "./path-reader";

/** Stands for "no parent": the forks are roots. */
const ROOT = "";

export interface Fork {
  /** The child with which this fork begins. */
  readonly childId: string;
  /** Where it was left; null when it is, or was last seen, on the active path. */
  readonly leafId: string | null;
  readonly label: string | null;
}

const TABLE = `CREATE TABLE IF NOT EXISTS assistant_branches (
  session_id TEXT NOT NULL,
  parent_id TEXT NOT NULL,
  child_id TEXT NOT NULL,
  leaf_id TEXT,
  label TEXT,
  PRIMARY KEY (session_id, parent_id, child_id)
) WITHOUT ROWID`;

type ForkRow = { child_id: string; leaf_id: string | null; label: string | null };

export const BRANCH_SQL = {
  forks: "SELECT child_id, leaf_id, label FROM assistant_branches WHERE session_id = ? AND parent_id = ?",
  any: "SELECT 1 FROM assistant_branches WHERE session_id = ? LIMIT 1",
  all: "SELECT parent_id, child_id, leaf_id, label FROM assistant_branches WHERE session_id = ? ORDER BY parent_id, child_id",
  note: `INSERT INTO assistant_branches (session_id, parent_id, child_id, leaf_id) VALUES (?, ?, ?, ?)
    ON CONFLICT (session_id, parent_id, child_id) DO UPDATE SET leaf_id = excluded.leaf_id
    WHERE leaf_id IS NOT excluded.leaf_id`,
  label: `INSERT INTO assistant_branches (session_id, parent_id, child_id, label) VALUES (?, ?, ?, ?)
    ON CONFLICT (session_id, parent_id, child_id) DO UPDATE SET label = excluded.label`,
  moveParent: "UPDATE OR REPLACE assistant_branches SET parent_id = ? WHERE session_id = ? AND parent_id = ?",
  moveLeaf: "UPDATE assistant_branches SET leaf_id = ? WHERE session_id = ? AND leaf_id = ?",
  removeChild: "DELETE FROM assistant_branches WHERE session_id = ? AND parent_id = ? AND child_id = ?",
  clear: "DELETE FROM assistant_branches WHERE session_id = ?"
} as const;

export class BranchStore {
  readonly #table: MissableTable;
  readonly #scope: SessionScope;

  constructor(sql: Sql, scope: SessionScope) {
    this.#table = missableTable(sql, "assistant_branches", () => sql.exec(TABLE));
    this.#scope = scope;
  }

  forks(parentId: string | null): Fork[] {
    return this.#table
      .query<ForkRow>(BRANCH_SQL.forks, this.#scope.id, parentId ?? ROOT)
      .map(({ child_id, leaf_id, label }) => ({ childId: child_id, leafId: leaf_id, label }));
  }

  /** Whether the session has forks at all. */
  any(): boolean {
    return this.#table.query(BRANCH_SQL.any, this.#scope.id).length > 0;
  }

  /** Every fork of the session, for export. */
  all(): (Fork & { readonly parentId: string | null })[] {
    return this.#table
      .query<ForkRow & { parent_id: string }>(BRANCH_SQL.all, this.#scope.id)
      .map(({ parent_id, child_id, leaf_id, label }) => ({
        ...{ parentId: parent_id === ROOT ? null : parent_id, childId: child_id },
        ...{ leafId: leaf_id, label }
      }));
  }

  /** Notes a fork and where it is left (null: it is the active one). An equal row is not written again. */
  note(parentId: string | null, childId: string, leafId: string | null): void {
    this.#table.exec(BRANCH_SQL.note, this.#scope.id, parentId ?? ROOT, childId, leafId);
  }

  label(parentId: string | null, childId: string, label: string | null): void {
    this.#table.exec(BRANCH_SQL.label, this.#scope.id, parentId ?? ROOT, childId, label);
  }

  /** The forks of one message are those of another one now. */
  moveForks(fromId: string, toId: string): void {
    this.#table.query(BRANCH_SQL.moveParent, toId, this.#scope.id, fromId);
  }

  /** A message is taken out of the tree: its children hang below its parent now. */
  splice(id: string, parentId: string | null): void {
    const { query } = this.#table;
    query(BRANCH_SQL.removeChild, this.#scope.id, parentId ?? ROOT, id);
    query(BRANCH_SQL.moveParent, parentId ?? ROOT, this.#scope.id, id);
    query(BRANCH_SQL.moveLeaf, parentId, this.#scope.id, id);
  }

  clear(): void {
    this.#table.query(BRANCH_SQL.clear, this.#scope.id);
  }
}
