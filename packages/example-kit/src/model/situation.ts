/**
 * Reads a model prompt down to the {@link Situation} the planner decides on: the last request, what the tools
 * answered since, and how far an interrupted answer had come. Pure.
 */
import type { CallOptions, Prompt, Situation, ToolResult } from "./types";

type Message = Prompt[number];
type ToolResultPart = Extract<
  Extract<Message, { role: "tool" }>["content"][number],
  { readonly type: "tool-result" }
>;

/** How Think ends a prompt that carries an interrupted answer on. It is no request of the person's. */
const CARRY_ON = "Continue from where you stopped.";

export function readSituation(options: Pick<CallOptions, "prompt" | "tools" | "toolChoice">): Situation {
  const start = options.prompt.findLastIndex(
    (message) => message.role === "user" && !textOf(message).startsWith(CARRY_ON)
  );
  const request = options.prompt[start];
  const results: ToolResult[] = [];
  let alreadySaid = "";
  for (const message of options.prompt.slice(start + 1)) {
    if (message.role !== "assistant" && message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type === "tool-result") {
        results.push(readResult(part));
        // Text before a tool result belongs to a step that has ended.
        alreadySaid = "";
      } else if (part.type === "text") {
        alreadySaid += part.text;
      }
    }
  }
  const usable = options.toolChoice?.type === "none" ? [] : (options.tools ?? []);
  return {
    request: request === undefined ? "" : textOf(request),
    results,
    alreadySaid,
    tools: new Set(usable.map((tool) => tool.name))
  };
}

function textOf(message: Message): string {
  if (message.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function readResult(part: ToolResultPart): ToolResult {
  const { toolName, output } = part;
  switch (output.type) {
    case "text":
    case "json":
      return { toolName, failed: false, output: output.value };
    case "error-text":
    case "error-json":
      return { toolName, failed: true, output: output.value };
    case "execution-denied":
      return { toolName, failed: true, output: output.reason ?? "It was not allowed to run." };
    default:
      return {
        toolName,
        failed: false,
        output: "It returned media, which the offline model cannot look at."
      };
  }
}
