/**
 * Makes a stored transcript fit for a provider: every tool call gets an outcome and every input is an object. A call without an outcome
 * was interrupted (its promise died with an isolate, or nobody answered), and providers refuse it.
 *
 * I1. Nothing is deleted: an interrupted call stays visible, so that the model does not run it again.
 * I2. A settled call keeps its state, output and error; only its input may be normalised.
 * I3. An answered approval waits for its continuation and is left verbatim.
 * I4. Without a change the same message objects come back and `changed` is empty. Such a message is not looked at again.
 */
import type { DynamicToolUIPart, ToolUIPart, UIMessage } from "ai";
import { isToolPart, type Part } from "../session/parts";
import { isRecord } from "../shared/json";
import { toolInput } from "../shared/tool-input";

/** A tool part as it is stored. */
export type StoredToolPart = ToolUIPart | DynamicToolUIPart;

/** Gives an interrupted call its outcome. May answer with any part that is not an unsettled call. */
export type RepairPart = (part: StoredToolPart) => Part;

export interface RepairReport {
  /** Interrupted calls that were given an outcome. */
  readonly removedToolCalls: number;
  readonly normalizedInputs: number;
  /** The calls concerned, in order. */
  readonly toolCallIds: readonly string[];
}

export interface Repaired {
  readonly messages: readonly UIMessage[];
  /** The messages that differ from what was given. */
  readonly changed: readonly UIMessage[];
  readonly report: RepairReport;
  /** Calls that still have no outcome, because the rule gave them none. Conversion drops them. */
  readonly incomplete: readonly string[];
}

/** What an interrupted call becomes unless the agent decides otherwise. */
export function failInterruptedPart(part: StoredToolPart): Part {
  const {
    output: _output,
    preliminary: _preliminary,
    ...rest
  } = part as StoredToolPart & { readonly preliminary?: boolean };
  const errorText = "The tool call was interrupted before a result was recorded.";
  return { ...rest, state: "output-error", errorText } as Part;
}

/** Messages in which nothing waits for an outcome and every input is sound; stored messages are replaced, not changed. */
const sound = new WeakSet<UIMessage>();

/** `leave`: calls that are not repaired yet, by their ids. Default: none. */
export function repairTranscript(
  messages: readonly UIMessage[],
  repairPart: RepairPart,
  leave: ReadonlySet<string> = new Set()
): Repaired {
  const counts = { removedToolCalls: 0, normalizedInputs: 0 };
  const toolCallIds = new Set<string>();
  const incomplete: string[] = [];

  const repair = (part: Part): Part => {
    if (!isToolPart(part) || part.state === "approval-responded" || leave.has(part.toolCallId)) return part;
    const normalized = withObjectInput(part);
    if (normalized !== part) counts.normalizedInputs += 1;
    const repaired = isSettled(normalized) ? normalized : repairPart(normalized);
    if (repaired !== normalized) counts.removedToolCalls += 1;
    if (repaired !== part) toolCallIds.add(part.toolCallId);
    if (isToolPart(repaired) && !isSettled(repaired) && repaired.state !== "approval-responded")
      incomplete.push(part.toolCallId);
    return repaired;
  };

  const repaired = messages.map((message) => {
    if (sound.has(message)) return message;
    const before = incomplete.length;
    const result = withParts(message, repair);
    const isLeft =
      leave.size > 0 && message.parts.some((part) => isToolPart(part) && leave.has(part.toolCallId));
    if (result === message && incomplete.length === before && !isLeft) sound.add(message);
    return result;
  });
  return {
    messages: repaired,
    changed: repaired.filter((message, index) => message !== messages[index]),
    report: { ...counts, toolCallIds: [...toolCallIds] },
    incomplete
  };
}

function withParts(message: UIMessage, change: (part: Part) => Part): UIMessage {
  const parts = message.parts.map(change);
  return parts.some((part, index) => part !== message.parts[index]) ? { ...message, parts } : message;
}

/** A preliminary output is no outcome: the tool was still running. */
export function isSettled(part: StoredToolPart): boolean {
  if ("preliminary" in part && part.preliminary) return false;
  if (part.state === "output-available" || part.state === "output-error" || part.state === "output-denied")
    return true;
  // Transcripts of older versions have an outcome without a state that says so.
  return ("output" in part && part.output !== undefined) || ("result" in part && part.result !== undefined);
}

function withObjectInput(part: StoredToolPart): StoredToolPart {
  return isRecord(part.input) ? part : { ...part, input: toolInput(part.input) };
}
