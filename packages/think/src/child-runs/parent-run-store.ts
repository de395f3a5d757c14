/**
 * Table `cf_agent_tool_runs`, which belongs to the base class: only what it leaves open is written here.
 */
import type { Sql, SqlRow } from "../storage/sql";

/** A run of this agent's children as the base class stored it. */
export interface ParentRunRow extends SqlRow {
  parent_tool_call_id: string | null;
  input_preview: string | null;
  display_metadata: string | null;
  display_order: number;
  started_at: number;
}

/** Ends a run that was never handed to its child; undefined when there is none of this id, or it has ended. */
export function failParentRun(sql: Sql, runId: string, error: string, now: number): ParentRunRow | undefined {
  return sql.exec<ParentRunRow>(
    `UPDATE cf_agent_tool_runs SET status = 'error', error_message = ?, completed_at = ?
       WHERE run_id = ? AND status IN ('starting', 'running')
       RETURNING parent_tool_call_id, input_preview, display_metadata, display_order, started_at`,
    error,
    now,
    runId
  )[0];
}

/** A run that can be cleared. */
export interface ClearableRun extends SqlRow {
  run_id: string;
  agent_type: string;
  status: string;
  started_at: number;
}

export function listParentRuns(sql: Sql): ClearableRun[] {
  return sql.exec<ClearableRun>(
    "SELECT run_id, agent_type, status, started_at FROM cf_agent_tool_runs ORDER BY started_at"
  );
}

/** A run as it stands; undefined for one that is not there. */
export function findParentRun(
  sql: Sql,
  runId: string
): { readonly agent_type: string; readonly status: string } | undefined {
  return sql.exec<ClearableRun>(
    "SELECT agent_type, status FROM cf_agent_tool_runs WHERE run_id = ?",
    runId
  )[0];
}

/** The run that a tool call was handed to. The parents of the Agents SDK name it after the call. */
export function runOfCall(sql: Sql, toolCallId: string): ReturnType<typeof findParentRun> {
  return findParentRun(sql, `agent-tool:${toolCallId}`);
}
