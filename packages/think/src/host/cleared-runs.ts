/**
 * `clearAgentToolRuns()` deletes the children with the rows. The base class looks a child's class up in `ctx.exports`, where classes have no names, so it neither stops nor
 * deletes a child: each would go on running and keep its storage for ever. Here that is done by name, before and after.
 */
import type { Agent } from "agents";
import { listParentRuns } from "../child-runs/parent-run-store";
import { errorText } from "../shared/errors/error-text";
import type { Sql } from "../storage/sql";

export type ClearingAgent = Pick<
  Agent,
  "clearAgentToolRuns" | "cancelAgentTool" | "deleteSubAgent" | "hasSubAgent"
>;

const LIVE: ReadonlySet<string> = new Set(["starting", "running"]);

export function deleteClearedRuns(agent: ClearingAgent, sql: Sql): void {
  const clear = agent.clearAgentToolRuns.bind(agent);
  agent.clearAgentToolRuns = async (options) => {
    const statuses: readonly string[] | undefined = options?.status;
    const before = options?.olderThan ?? Infinity;
    const runs = listParentRuns(sql).filter(
      ({ status, started_at }) => (statuses?.includes(status) ?? true) && started_at < before
    );
    for (const { run_id, status } of runs)
      if (LIVE.has(status)) await agent.cancelAgentTool(run_id, "clearing agent tool run");
    await clear(options);
    for (const { agent_type, run_id } of runs) await deleteChild(agent, agent_type, run_id);
  };
}

/** A child that cannot be deleted must not keep the others. */
async function deleteChild(agent: ClearingAgent, className: string, name: string): Promise<void> {
  try {
    // Only the name of the class is looked at.
    if (agent.hasSubAgent(className, name)) await agent.deleteSubAgent({ name: className } as never, name);
  } catch (error) {
    console.error(`[Think] The child ${className} ${name} could not be deleted: ${errorText(error)}`, error);
  }
}
