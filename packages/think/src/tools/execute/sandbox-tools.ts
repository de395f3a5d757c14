/**
 * AI SDK tools as the sandbox calls them: with the options that a tool expects, and the last value of one that streams. Which tools
 * there are is decided here; codemode validates the input and asks for approval.
 */
import type { ToolSet } from "ai";
import { lastValue } from "../../shared/last-value";

/** What a tool gets beside its input. There is no call of the model behind it. */
const callOptions = (name: string) => ({
  toolCallId: `execute:${name}`,
  messages: [],
  context: undefined,
  experimental_context: undefined
});

export function sandboxTools(tools: ToolSet): ToolSet {
  const entries = Object.entries(tools).map(([name, tool]) => [name, callable(name, tool)]);
  return Object.fromEntries(entries);
}

function callable(name: string, tool: ToolSet[string]): ToolSet[string] {
  const execute: unknown = "execute" in tool ? tool.execute : undefined;
  if (typeof execute !== "function") return tool;
  return {
    ...tool,
    execute: async (input: unknown) => lastValue(await execute.call(tool, input, callOptions(name)))
  } as ToolSet[string];
}

/** Without a person to ask there is no way to run these. */
export function withoutApprovals(tools: ToolSet): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).filter(
      ([, tool]) => tool.needsApproval === undefined || tool.needsApproval === false
    )
  );
}
