/**
 * AI SDK tools as the sandbox calls them: with the options that a tool expects, and the last value of one that streams. Which tools
 * there are is decided here; codemode validates the input and asks for approval.
 */
import type { ToolSet } from "ai";
import { isRecord } from "../../shared/json";

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

async function lastValue(result: unknown): Promise<unknown> {
  if (!isAsyncIterable(result)) return result;
  let last: unknown;
  for await (const value of result) last = value;
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (isRecord(value) || typeof value === "object") && value !== null && Symbol.asyncIterator in value;
}

/** Without a person to ask there is no way to run these. */
export function withoutApprovals(tools: ToolSet): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).filter(
      ([, tool]) => tool.needsApproval === undefined || tool.needsApproval === false
    )
  );
}
