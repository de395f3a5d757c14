/** The rows of an agent registry: table `cf_think_agents`, made on first use. Used by `agent-registry.ts` alone. */
import { isRecord, parseStored } from "../shared/json";
import { missableTable, type MissableTable } from "../storage/lazy-table";
import type { Sql, SqlRow } from "../storage/sql";

/** What a child is doing, as its parent last heard. */
export type AgentStatus = "idle" | "running" | "completed" | "error" | "aborted" | "interrupted";

export const STATUSES: readonly AgentStatus[] = [
  "idle",
  "running",
  "completed",
  "error",
  "aborted",
  "interrupted"
];

/** A status may come from a client: one that is none could be the mark of a deletion. */
export function isStatus(status: unknown): status is AgentStatus {
  return STATUSES.some((known) => known === status);
}

/** A child as the registry knows it. Times are in ms since 1970. */
export interface AgentRecord {
  readonly className: string;
  readonly name: string;
  readonly title: string;
  readonly status: AgentStatus;
  readonly messageCount: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Which children, and how many. */
export interface ListOptions {
  /** Only children of this class. */
  readonly className?: string;
  /** Only children with this status. */
  readonly status?: AgentStatus;
  /** Most records. Default: 100; at most 1000. */
  readonly limit?: number;
  /** Records to skip. Default: 0. */
  readonly offset?: number;
}

const TABLE = `CREATE TABLE IF NOT EXISTS cf_think_agents (
  class_name TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  message_count INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (class_name, name)
) WITHOUT ROWID`;

/** The mark of a child whose deletion has begun. Never seen outside. */
const DELETING = "deleting";

interface Row extends SqlRow {
  class_name: string;
  name: string;
  title: string;
  status: string;
  message_count: number;
  metadata: string;
  created_at: number;
  updated_at: number;
}

export class RegistryStore {
  readonly #table: MissableTable;

  constructor(sql: Sql) {
    this.#table = missableTable(sql, "cf_think_agents", () => sql.exec(TABLE));
  }

  get(className: string, name: string): AgentRecord | undefined {
    const [row] = this.#table.query<Row>(
      "SELECT * FROM cf_think_agents WHERE class_name = ? AND name = ? AND status <> 'deleting'",
      className,
      name
    );
    return row && toRecord(row);
  }

  put(record: AgentRecord): void {
    this.#table.exec(
      `INSERT INTO cf_think_agents VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (class_name, name) DO UPDATE SET
         title = excluded.title, status = excluded.status, message_count = excluded.message_count,
         metadata = excluded.metadata, created_at = excluded.created_at, updated_at = excluded.updated_at`,
      record.className,
      record.name,
      record.title,
      record.status,
      record.messageCount,
      JSON.stringify(record.metadata),
      record.createdAt,
      record.updatedAt
    );
  }

  /** Newest first. */
  list(options: ListOptions & { readonly limit: number; readonly offset: number }): AgentRecord[] {
    const { className, status, limit, offset } = options;
    const rows = this.#table.query<Row>(
      `SELECT * FROM cf_think_agents WHERE status <> 'deleting'
         AND (?1 IS NULL OR class_name = ?1) AND (?2 IS NULL OR status = ?2)
       ORDER BY created_at DESC, class_name, name LIMIT ?3 OFFSET ?4`,
      className ?? null,
      status ?? null,
      limit,
      offset
    );
    return rows.map(toRecord);
  }

  count(): number {
    return this.#table.query<{ n: number }>("SELECT COUNT(*) AS n FROM cf_think_agents")[0]?.n ?? 0;
  }

  isDeleting(className: string, name: string): boolean {
    const rows = this.#table.query(
      "SELECT 1 FROM cf_think_agents WHERE class_name = ? AND name = ? AND status = 'deleting'",
      className,
      name
    );
    return rows.length > 0;
  }

  markDeleting(className: string, name: string): void {
    this.#table.query(
      "UPDATE cf_think_agents SET status = ? WHERE class_name = ? AND name = ?",
      DELETING,
      className,
      name
    );
  }

  remove(className: string, name: string): void {
    this.#table.query("DELETE FROM cf_think_agents WHERE class_name = ? AND name = ?", className, name);
  }
}

function toRecord(row: Row): AgentRecord {
  const metadata = parseStored(row.metadata);
  return {
    className: row.class_name,
    name: row.name,
    title: row.title,
    // Only this file writes the column.
    status: row.status as AgentStatus,
    messageCount: row.message_count,
    metadata: isRecord(metadata) ? metadata : {},
    createdAt: row.created_at,
    updatedAt: row.updated_at
  };
}
