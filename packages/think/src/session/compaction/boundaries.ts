/**
 * Where a list of messages may be cut. Used by `createCompactFunction` and by the compactor, which checks the ranges of other functions too.
 *
 * A settled tool part holds call and result; an unsettled one is a call whose result is in a later message, or still to come.
 *
 * I1. No cut lies between a call and its result.
 * I2. A call that still waits (no user message after it) is never before a cut: its result will be written into that message.
 */
import type { UIMessage } from "ai";
import { COMPACTION_LIMITS } from "../../shared/limits";
import { isToolPart } from "../parts";
import { estimateMessageTokens } from "./tokens";

/** How the ids of summaries begin. Their messages exist only in what is read, never in storage. */
export const COMPACTION_PREFIX = "compaction_";

/** Whether a message is the summary that stands for others. */
export function isCompactionMessage(message: Pick<UIMessage, "id">): boolean {
  return message.id.startsWith(COMPACTION_PREFIX);
}

const SETTLED: ReadonlySet<string> = new Set(["output-available", "output-error", "output-denied"]);

interface ToolCall {
  readonly id: string;
  readonly settled: boolean;
}

function toolCalls(message: UIMessage): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const part of message.parts) {
    if (isToolPart(part)) calls.push({ id: part.toolCallId, settled: SETTLED.has(part.state) });
  }
  return calls;
}

/**
 * For each position the last position that must be on the same side of a cut: the position itself, or where a call's result is, or
 * beyond the end for a call that waits. Ids that a provider uses again and again tie nothing once their calls are settled.
 */
function ties(messages: readonly UIMessage[]): number[] {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const result = messages.map((_, index) => index);
  const later = new Map<string, number>();
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    const calls = message === undefined ? [] : toolCalls(message);
    for (const { id, settled } of calls) {
      if (settled) continue;
      const next = later.get(id) ?? (index > lastUser ? messages.length : index);
      result[index] = Math.max(result[index] ?? index, next);
    }
    for (const { id } of calls) later.set(id, index);
  }
  return result;
}

/** `open[cut]`: whether a cut before that position separates nothing. Has one entry more than there are messages. */
function openCuts(messages: readonly UIMessage[]): boolean[] {
  let reach = -1;
  const open = ties(messages).map((tie, index) => {
    const isOpen = reach < index;
    reach = Math.max(reach, tie);
    return isOpen;
  });
  return [...open, reach < messages.length];
}

/** The first allowed cut at or after `index`; the end of the list when there is none. */
export function alignBoundaryForward(messages: readonly UIMessage[], index: number): number {
  const start = clamp(index, messages.length);
  const found = openCuts(messages).indexOf(true, start);
  return found === -1 ? messages.length : found;
}

/** The last allowed cut at or before `index`; a cut before the first message is always allowed. */
export function alignBoundaryBackward(messages: readonly UIMessage[], index: number): number {
  return openCuts(messages).lastIndexOf(true, clamp(index, messages.length));
}

/**
 * Where the tail begins that is kept: as many of the newest messages as fit `tailTokenBudget`, at least `minTailMessages` (and at least
 * one), moved back so that no call is cut from its result. Never before `headEnd`.
 */
export function findTailCutByTokens(
  messages: readonly UIMessage[],
  headEnd: number,
  tailTokenBudget: number = COMPACTION_LIMITS.tailTokens,
  minTailMessages: number = COMPACTION_LIMITS.tailMessages,
  countTokens: (message: UIMessage) => number = estimateMessageTokens
): number {
  let cut = messages.length;
  let tokens = 0;
  while (cut > headEnd) {
    const message = messages[cut - 1];
    if (message === undefined) break;
    const isRequired = messages.length - cut < Math.max(1, minTailMessages);
    tokens += countTokens(message);
    if (!isRequired && !(tokens <= tailTokenBudget)) break;
    cut -= 1;
  }
  return Math.max(headEnd, alignBoundaryBackward(messages, cut));
}

/** The messages without calls that have no result among them; a message that had nothing else is left out. */
export function sanitizeToolPairs(messages: readonly UIMessage[]): UIMessage[] {
  const answered = new Set<string>();
  const result: UIMessage[] = [];
  for (const message of messages.toReversed()) {
    for (const { id, settled } of toolCalls(message)) if (settled) answered.add(id);
    const parts = message.parts.filter((part) => !isToolPart(part) || answered.has(part.toolCallId));
    if (parts.length === message.parts.length) result.push(message);
    else if (parts.some(({ type }) => type !== "step-start")) result.push({ ...message, parts });
  }
  return result.toReversed();
}

function clamp(index: number, length: number): number {
  return Math.min(Math.max(0, Math.trunc(index) || 0), length);
}
