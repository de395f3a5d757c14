/**
 * The record of one call to a scripted model: what it was asked and how it ended. Written by the
 * scripted model, read by script functions and by tests.
 */
import type { ModelCallOptions, ModelPrompt, ModelTool } from "./model-types";

/** How a call stands: `aborted` means the caller gave up before the script was played to its end. */
export type ScriptedCallStatus = "running" | "finished" | "failed" | "aborted";

/** One recorded call. */
export interface ScriptedCall {
  /** 0 for the first call of this model. */
  readonly index: number;
  /** `stream` for `streamText`, `generate` for `generateText`. */
  readonly kind: "stream" | "generate";
  /** The conversation as the model saw it. */
  readonly prompt: ModelPrompt;
  /** The system text of the prompt, or the empty string. */
  readonly system: string;
  /** The text of the last user message, or the empty string. */
  readonly userText: string;
  /** The tools offered, as sent. */
  readonly tools: readonly ModelTool[];
  /** The names of the tools offered, in order. */
  readonly toolNames: readonly string[];
  /** Everything else of the request: temperature, tool choice, provider options, headers and so on. */
  readonly settings: Omit<ModelCallOptions, "prompt" | "tools" | "abortSignal">;
  readonly status: ScriptedCallStatus;
  /** True when the caller gave up before the script was played to its end. */
  readonly aborted: boolean;
}

/** A call record together with the one switch its owner may throw. */
export interface CallRecord {
  readonly call: ScriptedCall;
  settle(status: ScriptedCallStatus): void;
}

export function recordCall(index: number, kind: ScriptedCall["kind"], options: ModelCallOptions): CallRecord {
  const { prompt, tools = [], abortSignal: _abortSignal, ...settings } = options;
  let status: ScriptedCallStatus = "running";
  return {
    call: {
      index,
      kind,
      prompt,
      system: systemText(prompt),
      userText: lastUserText(prompt),
      tools,
      toolNames: tools.map((tool) => tool.name),
      settings,
      get status() {
        return status;
      },
      get aborted() {
        return status === "aborted";
      }
    },
    settle(next) {
      if (status === "running") status = next;
    }
  };
}

/** The ids of all tool calls a prompt mentions. */
export function toolCallIdsOf(prompt: ModelPrompt): Set<string> {
  const ids = new Set<string>();
  for (const message of prompt) {
    if (typeof message.content === "string") continue;
    for (const part of message.content) if ("toolCallId" in part) ids.add(part.toolCallId);
  }
  return ids;
}

function systemText(prompt: ModelPrompt): string {
  return prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n\n");
}

function lastUserText(prompt: ModelPrompt): string {
  const message = prompt.findLast((candidate) => candidate.role === "user");
  if (message?.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
