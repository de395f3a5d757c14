/**
 * One tool set out of many sources. Precedence is the order of `TOOL_SOURCES`: of two tools with one name the later source wins.
 */
import type { ToolSet } from "ai";

/** Where tools come from, weakest first. */
export const TOOL_SOURCES = [
  "workspace",
  "agent",
  "extensions",
  "session",
  "skills",
  "mcp",
  "client",
  "turn"
] as const;

/** The tools of a turn by source. A source without tools is simply absent. */
export type ToolSources = { readonly [Source in (typeof TOOL_SOURCES)[number]]?: ToolSet | undefined };

export function mergeTools(sources: ToolSources): ToolSet {
  // Entries instead of assignments: a client may name a tool `__proto__`.
  return Object.fromEntries(TOOL_SOURCES.flatMap((source) => Object.entries(sources[source] ?? {})));
}
