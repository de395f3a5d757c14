/**
 * Runs whose child cannot be started: its class is not exported, its `onStart` throws, it is no agent tool. The base class lets the error out and leaves its row
 * open, which counts against `maxConcurrentAgentTools` and shows clients a run that never ends. Here such a run ends like any other that failed.
 */
import type { Agent, AgentToolRunInfo } from "agents";
import { failParentRun, type ParentRunRow } from "../child-runs/parent-run-store";
import type { Clock, Ids } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { parseStored } from "../shared/json";
import type { Sql } from "../storage/sql";
import { wrapRunAgentTool } from "./run-agent-tool";

export type DelegatingAgent = Pick<Agent, "runAgentTool" | "onAgentToolFinish" | "broadcast">;

/** As many characters as the base class gives a run without an id. */
const RUN_ID_CHARS = 12;

export function sealFailedStarts(
  agent: DelegatingAgent,
  { sql, clock, ids }: { readonly sql: Sql; readonly clock: Clock; readonly ids: Ids }
): void {
  wrapRunAgentTool(agent, (run) => async (cls, options) => {
    const runId = options.runId ?? ids.next().replaceAll("-", "").slice(0, RUN_ID_CHARS);
    try {
      return await run(cls, { ...options, runId });
    } catch (error) {
      const text = errorText(error);
      const now = clock.now();
      const row = failParentRun(sql, runId, text, now);
      // Refused before anything was stored: a mistake in the options, which the author must see.
      if (!row) throw error;
      const result = { runId, agentType: cls.name, status: "error", error: text } as const;
      agent.broadcast(failureFrame(row, runId, text));
      await agent.onAgentToolFinish({ ...infoOf(row, result), completedAt: now }, result);
      return result;
    }
  });
}

/** The second frame of the run: nothing came after the first. */
function failureFrame(row: ParentRunRow, runId: string, error: string): string {
  const parent = row.parent_tool_call_id === null ? {} : { parentToolCallId: row.parent_tool_call_id };
  const event = { kind: "error", runId, error };
  return JSON.stringify({ type: "agent-tool-event", ...parent, sequence: 1, event });
}

function infoOf(
  row: ParentRunRow,
  { runId, agentType, status }: Pick<AgentToolRunInfo, "runId" | "agentType" | "status">
): AgentToolRunInfo {
  const display = row.display_metadata === null ? undefined : parseStored(row.display_metadata);
  return {
    ...{ runId, agentType, status, displayOrder: row.display_order, startedAt: row.started_at },
    ...(row.parent_tool_call_id === null ? {} : { parentToolCallId: row.parent_tool_call_id }),
    ...(row.input_preview === null ? {} : { inputPreview: parseStored(row.input_preview) }),
    ...(display === undefined ? {} : { display: display as NonNullable<AgentToolRunInfo["display"]> })
  };
}
