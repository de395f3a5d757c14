/**
 * `runAgentTool` of the base class, as the files around it wrap it. It declares one method per kind of run; here stands what all have in common.
 */
import type { Agent } from "agents";

export interface RunOptions {
  readonly runId?: string;
  readonly signal?: AbortSignal;
  readonly detached?: unknown;
}

export type RunAgentTool = (cls: { readonly name: string }, options: RunOptions) => Promise<unknown>;

export function wrapRunAgentTool(
  agent: Pick<Agent, "runAgentTool">,
  wrap: (run: RunAgentTool) => RunAgentTool
): void {
  const run = agent.runAgentTool.bind(agent) as unknown as RunAgentTool;
  agent.runAgentTool = wrap(run) as unknown as Agent["runAgentTool"];
}
