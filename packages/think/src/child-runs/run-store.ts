/**
 * Table `cf_agent_tool_child_runs`: one row per run that a parent asked for.
 *
 * I1. A row that has ended never changes: every write of an end or of a turn asks for `completed_at IS NULL`, so the first end wins.
 * I2. The table is made by the first run. An agent that is nobody's child pays nothing, and reads nothing.
 */
import { missableTable, type MissableTable } from "../storage/lazy-table";
import type { Sql, SqlRow } from "../storage/sql";
import type { ChildRun, ChildRunEnd, ChildRunStatus } from "./child-run";

const TABLE = "cf_agent_tool_child_runs";

const CREATE = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  run_id TEXT PRIMARY KEY,
  request_id TEXT,
  stream_id TEXT,
  status TEXT NOT NULL,
  summary TEXT,
  output_json TEXT,
  error_message TEXT,
  started_at INTEGER NOT NULL,
  completed_at INTEGER,
  input_json TEXT,
  input_id TEXT,
  first_sequence INTEGER NOT NULL DEFAULT 0,
  is_archived INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID`;

/** Columns that tables of the published package lack; the first one only its oldest. */
const ADDED = [
  ["output_json", "TEXT"],
  ["input_json", "TEXT"],
  ["input_id", "TEXT"],
  ["first_sequence", "INTEGER NOT NULL DEFAULT 0"],
  // Its streams are gone: what they said is in the messages.
  ["is_archived", "INTEGER NOT NULL DEFAULT 1"]
] as const;

/** What is stored of an end besides its status. */
export interface RunResult {
  readonly end: ChildRunEnd;
  readonly outputJson: string | null;
  readonly summary: string | null;
  readonly at: number;
}

export class RunStore {
  readonly #sql: Sql;
  readonly #table: MissableTable;
  #isUpgraded = false;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#table = missableTable(sql, TABLE, () => void sql.exec(CREATE));
  }

  get(runId: string): ChildRun | undefined {
    return this.#select("WHERE run_id = ?", runId)[0];
  }

  /** The runs that have not ended. */
  open(): ChildRun[] {
    return this.#select("WHERE completed_at IS NULL ORDER BY started_at, run_id");
  }

  /** The runs whose last chunks are still in the rows of the stream. */
  inStream(): ChildRun[] {
    return this.#select("WHERE stream_id IS NOT NULL AND is_archived = 0");
  }

  insert(run: {
    readonly runId: string;
    readonly requestId: string;
    readonly inputJson: string | null;
    readonly now: number;
  }): void {
    this.#upgrade();
    this.#table.exec(
      `INSERT INTO ${TABLE} (run_id, request_id, status, input_json, started_at) VALUES (?, ?, 'starting', ?, ?)`,
      ...[run.runId, run.requestId, run.inputJson, run.now]
    );
  }

  /** A turn of the run has its stream: the first one, or one that carries it on. */
  bind(
    runId: string,
    turn: { readonly requestId: string; readonly streamId: string; readonly firstSequence: number },
    inputId: string | undefined
  ): void {
    this.#upgrade();
    this.#table.exec(
      `UPDATE ${TABLE} SET status = 'running', request_id = ?, stream_id = ?, first_sequence = ?, is_archived = 0, input_json = NULL,
         input_id = coalesce(input_id, ?) WHERE run_id = ? AND completed_at IS NULL`,
      turn.requestId,
      turn.streamId,
      turn.firstSequence,
      inputId ?? null,
      runId
    );
  }

  archived(runId: string): void {
    this.#table.exec(`UPDATE ${TABLE} SET is_archived = 1 WHERE run_id = ?`, runId);
  }

  /** Ends a run; false when it had already ended (I1). */
  finish(runId: string, { end, outputJson, summary, at }: RunResult): boolean {
    this.#upgrade();
    const error = end.status === "completed" ? null : (end.error ?? null);
    const ended = this.#table.exec(
      `UPDATE ${TABLE} SET status = ?, summary = ?, output_json = ?, error_message = ?, completed_at = ?
         WHERE run_id = ? AND completed_at IS NULL RETURNING run_id`,
      ...[end.status, summary, outputJson, error, at, runId]
    );
    return ended.length > 0;
  }

  #select(where: string, ...bindings: string[]): ChildRun[] {
    this.#upgrade();
    return this.#table.query<RunRow>(`SELECT * FROM ${TABLE} ${where}`, ...bindings).map(toRun);
  }

  #upgrade(): void {
    if (this.#isUpgraded) return;
    const columns = this.#sql.exec<{ name: string }>(`SELECT name FROM pragma_table_info('${TABLE}')`);
    const names = new Set(columns.map(({ name }) => name));
    for (const [name, type] of names.size === 0 ? [] : ADDED)
      if (!names.has(name)) this.#sql.exec(`ALTER TABLE ${TABLE} ADD COLUMN ${name} ${type}`);
    this.#isUpgraded = true;
  }
}

interface RunRow extends SqlRow {
  run_id: string;
  request_id: string | null;
  stream_id: string | null;
  status: string;
  summary: string | null;
  output_json: string | null;
  error_message: string | null;
  started_at: number;
  completed_at: number | null;
  input_json: string | null;
  input_id: string | null;
  first_sequence: number;
  is_archived: number;
}

function toRun(row: RunRow): ChildRun {
  return {
    runId: row.run_id,
    status: row.status as ChildRunStatus,
    requestId: row.request_id,
    streamId: row.stream_id,
    inputJson: row.input_json,
    inputId: row.input_id,
    firstSequence: row.first_sequence,
    isArchived: row.is_archived === 1,
    summary: row.summary,
    outputJson: row.output_json,
    error: row.error_message,
    startedAt: row.started_at,
    completedAt: row.completed_at
  };
}
