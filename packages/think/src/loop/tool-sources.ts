/**
 * The tools that an agent has by itself, and which of a turn's tools run on the server. Clients and `beforeTurn` add theirs for one turn.
 */
import type { ToolSet } from "ai";
import type { LoopAgent } from "./loop-agent";
import { mergeTools, type ToolSources } from "./tool-merge";

export async function agentSources(agent: Pick<LoopAgent, "mcp" | "tools">): Promise<ToolSources> {
  const mcp = agent.mcp.hasServers() ? { mcp: agent.mcp.tools() } : {};
  return { ...(await agent.tools()), ...mcp };
}

/** Names of the tools that are executed here; calls of the others are answered by clients. */
export function executedHere(tools: ToolSet): ReadonlySet<string> {
  return new Set(Object.keys(tools).filter((name) => tools[name]?.execute !== undefined));
}

/** Names of the agent's own tools that clients execute. */
export async function toolsOfClients(agent: Pick<LoopAgent, "mcp" | "tools">): Promise<ReadonlySet<string>> {
  const tools = mergeTools(await agentSources(agent));
  const here = executedHere(tools);
  return new Set(Object.keys(tools).filter((name) => !here.has(name)));
}
