/**
 * Chosen tools of MCP servers under stable names. The names of the Agents SDK carry the server's id, which differs from object to object; a
 * prompt of a child cannot rely on them.
 */
import type { ToolSet } from "ai";
import { ThinkError } from "../shared/errors/think-error";

interface ServerFilter {
  readonly serverName: string;
  readonly state: "ready";
}

/** The part of `this.mcp` that is used. */
export interface McpToolSource {
  listTools(filter: ServerFilter): readonly { readonly name: string; readonly serverId: string }[];
  getAITools(filter: ServerFilter): ToolSet;
}

/** By the server's name: the names of its tools, or `"*"` for all of them. */
export type McpSelection = Readonly<Record<string, readonly string[] | "*">>;

/** The chosen tools of the servers that are connected, named `{server}_{tool}`. A server that is not ready has none. */
export function mcpTools(mcp: McpToolSource, selection: McpSelection): ToolSet {
  const chosen = new Map<string, ToolSet[string]>();
  for (const [serverName, wanted] of Object.entries(selection)) {
    const filter: ServerFilter = { serverName, state: "ready" };
    const tools = mcp.getAITools(filter);
    for (const { name, serverId } of mcp.listTools(filter)) {
      const tool = tools[`tool_${serverId.replaceAll("-", "")}_${name}`];
      if (!tool || (wanted !== "*" && !wanted.includes(name))) continue;
      const shared = `${serverName}_${name}`.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
      if (chosen.has(shared)) {
        throw new ThinkError(
          `Two MCP tools would be shared as "${shared}". Leave one out of the selection, or rename its server.`,
          { code: "invalid-option" }
        );
      }
      chosen.set(shared, tool);
    }
  }
  return Object.fromEntries(chosen);
}
