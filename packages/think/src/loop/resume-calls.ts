/**
 * Calls that an interrupted turn had handed to another agent. That agent goes on by itself; the same call, made again under its id, waits
 * for it and has its answer. Otherwise repair would take the call for lost, and the model would give the work away a second time.
 *
 * I1. Only calls that were handed over are made again: any other might do its work twice.
 * I2. Only a turn that carries on waits for them. Whoever asks something new is answered at once.
 * I3. A turn that was stopped meanwhile stores nothing.
 */
import type { ToolSet, UIMessage } from "ai";
import { isToolPart, toolNameOf, type Part, type ToolPart } from "../session/parts";
import { errorText } from "../shared/errors/error-text";
import { lastValue } from "../shared/last-value";
import { asJsonResult } from "./json-result";
import type { LoopAgent, LoopInput } from "./loop-agent";
import type { ToolExecute } from "./sdk-tool";

type Outcomes = ReadonlyMap<string, Part>;

export async function resumeCalls(
  agent: Pick<LoopAgent, "isHandedOver" | "saveRepaired">,
  { messages, signal, continuation }: Pick<LoopInput, "messages" | "signal" | "continuation">,
  tools: ToolSet
): Promise<void> {
  if (!continuation) return;
  const calls = messages()
    .flatMap(({ parts }) => parts)
    .filter(isOpenCall)
    .filter(({ toolCallId }) => agent.isHandedOver(toolCallId));
  if (calls.length === 0) return;
  const settled = await Promise.all(calls.map((call) => settle(call, tools, signal)));
  signal.throwIfAborted();
  const outcomes: Outcomes = new Map(settled.flatMap((part) => (part ? [[part.toolCallId, part]] : [])));
  // Read again: the conversation may have changed during the wait.
  const changed = messages()
    .map((message) => withOutcomes(message, outcomes))
    .filter((message, index) => message !== messages()[index]);
  if (changed.length > 0) agent.saveRepaired(changed);
}

function isOpenCall(part: Part): part is ToolPart {
  return isToolPart(part) && part.state === "input-available";
}

/** Undefined: there is no such tool any more, which is for the repair to say. */
async function settle(call: ToolPart, tools: ToolSet, signal: AbortSignal): Promise<ToolPart | undefined> {
  const name = toolNameOf(call);
  const execute = tools[name]?.execute as ToolExecute | undefined;
  if (!execute) return undefined;
  const { toolCallId, input } = call;
  try {
    const result = await execute(input, { toolCallId, messages: [], abortSignal: signal });
    const output = await asJsonResult(name, await lastValue(result));
    return { ...call, state: "output-available", output } as ToolPart;
  } catch (error) {
    return { ...call, state: "output-error", errorText: errorText(error) } as ToolPart;
  }
}

function withOutcomes(message: UIMessage, outcomes: Outcomes): UIMessage {
  const parts = message.parts.map((part) =>
    isOpenCall(part) ? (outcomes.get(part.toolCallId) ?? part) : part
  );
  return parts.some((part, index) => part !== message.parts[index]) ? { ...message, parts } : message;
}
