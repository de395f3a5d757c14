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
import { isSettled } from "./repair-transcript";
import type { ToolExecute } from "./sdk-tool";

type Outcomes = ReadonlyMap<string, Part>;

/** Returns the calls that have no tool here: `beforeTurn` may bring it. */
export async function resumeCalls(
  agent: Pick<LoopAgent, "isHandedOver" | "saveSettled">,
  { messages, signal, continuation }: Pick<LoopInput, "messages" | "signal" | "continuation">,
  tools: ToolSet
): Promise<ReadonlySet<string>> {
  signal.throwIfAborted();
  const calls = continuation
    ? openCalls(messages()).filter((call) => agent.isHandedOver(call.toolCallId))
    : [];
  const isKnown = (call: ToolPart) => tools[toolNameOf(call)]?.execute !== undefined;
  const settled = await Promise.all(calls.filter(isKnown).map((call) => settle(call, tools, signal)));
  signal.throwIfAborted();
  if (settled.length > 0) store(agent, messages(), new Map(settled.map((part) => [part.toolCallId, part])));
  return new Set(calls.filter((call) => !isKnown(call)).map(({ toolCallId }) => toolCallId));
}

function openCalls(messages: readonly UIMessage[]): ToolPart[] {
  return messages.flatMap(({ parts }) => parts).filter(isOpenCall);
}

/** A call that was made and has no outcome; what it said on its way is none. */
function isOpenCall(part: Part): part is ToolPart {
  const isMade = isToolPart(part) && (part.state === "input-available" || part.state === "output-available");
  return isMade && !isSettled(part);
}

async function settle(call: ToolPart, tools: ToolSet, signal: AbortSignal): Promise<ToolPart> {
  const name = toolNameOf(call);
  const execute = tools[name]?.execute as ToolExecute | undefined;
  const { preliminary: _, ...made } = call as ToolPart & { readonly preliminary?: boolean };
  try {
    const result = await execute?.(call.input, {
      ...{ toolCallId: call.toolCallId, messages: [], abortSignal: signal }
    });
    const output = await asJsonResult(name, await lastValue(result));
    return { ...made, state: "output-available", output } as ToolPart;
  } catch (error) {
    return { ...made, state: "output-error", errorText: errorText(error) } as ToolPart;
  }
}

/** The conversation may have changed during the wait: only calls that are still open get their outcome. */
function store(
  agent: Pick<LoopAgent, "saveSettled">,
  messages: readonly UIMessage[],
  outcomes: Outcomes
): void {
  const settled = messages.map((message) => withOutcomes(message, outcomes));
  const changed = settled.filter((message, index) => message !== messages[index]);
  if (changed.length > 0) agent.saveSettled(changed);
}

function withOutcomes(message: UIMessage, outcomes: Outcomes): UIMessage {
  const parts = message.parts.map((part) =>
    isOpenCall(part) ? (outcomes.get(part.toolCallId) ?? part) : part
  );
  return parts.some((part, index) => part !== message.parts[index]) ? { ...message, parts } : message;
}
