/** `createThinkTool`: the tool of `think-tool.ts` in an agent. The only file of the tool that knows the Agents SDK. */
import { getCurrentAgent } from "agents";
import type { ThoughtStorage } from "../../thoughts/sql-thoughts";
import { thinkToolFor, type ThinkTool, type ThinkToolOptions } from "./think-tool";

/** An agent of the Agents SDK, as far as its type can be named from outside. */
export interface ThinkToolAgent {
  readonly name: string;
  keepAlive(): Promise<() => void>;
}

/**
 * Creates the `think` tool. With an agent, thoughts are kept in its storage under its name; with options, as these say.
 *
 * Without `storage` or `log` thoughts live as long as the tool: `getTools()` runs for every turn, so keep the tool in a field then.
 */
export function createThinkTool(options: ThinkToolOptions | ThinkToolAgent = {}): ThinkTool {
  if (!isAgent(options)) return thinkToolFor(options, currentAgentName);
  const storage = storageOf(options);
  const agentOptions = { ...(storage === undefined ? {} : { storage }), sessionId: () => options.name };
  return thinkToolFor(agentOptions, currentAgentName);
}

function isAgent(value: ThinkToolOptions | ThinkToolAgent): value is ThinkToolAgent {
  return "keepAlive" in value && typeof value.keepAlive === "function";
}

/** An agent's storage is protected, so that its type cannot ask for it. */
function storageOf(agent: ThinkToolAgent): ThoughtStorage | undefined {
  const { ctx }: { ctx?: { readonly storage?: ThoughtStorage } } = Object(agent);
  return ctx?.storage;
}

function currentAgentName(): string | undefined {
  return getCurrentAgent().agent?.name;
}
