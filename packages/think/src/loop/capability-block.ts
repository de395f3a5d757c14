/**
 * The short text appended to the system prompt that tells the model what this turn offers. It is derived from the tools that are
 * really exposed, so the model never hears of a capability it does not have.
 */
const OPENING = "You are running inside a Think agent.";

const FILE_TOOLS = ["read", "write", "edit", "list", "find", "grep", "delete"];

interface Capability {
  readonly when: (has: (name: string) => boolean) => boolean;
  readonly line: string;
}

const CAPABILITIES: readonly Capability[] = [
  {
    when: (has) => FILE_TOOLS.some(has),
    line: "File tools work on the agent workspace, a private file system that persists across conversations."
  },
  {
    when: (has) => has("load_context") || has("unload_context"),
    line: "Load context you need with the context tools, and unload it when you are done."
  },
  {
    when: (has) => has("load_extension") || has("list_extensions"),
    line: "Extensions can add tools; list them before you load one."
  },
  {
    when: (has) => has("execute"),
    line: "The execute tool runs code in a sandbox without network access."
  }
];

const TOOL_LINES = [
  "Call tools only by the names and inputs you were given, and read their results before you go on.",
  "A tool may run on the server, in the user's client, on an MCP server, in an extension, or as a delegated agent."
];

const CLOSING = "Claim no capability that is not exposed to you as a tool.";

export function withCapabilityBlock(system: string, toolNames: readonly string[]): string {
  if (system.includes(OPENING)) return system;
  const names = new Set(toolNames);
  const exposed = CAPABILITIES.filter((capability) => capability.when((name) => names.has(name)));
  const lines = [OPENING, ...exposed.map(({ line }) => line), ...(names.size > 0 ? TOOL_LINES : []), CLOSING];
  return `${system.trimEnd()}\n\n${lines.join("\n")}`.trimStart();
}
