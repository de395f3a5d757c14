/**
 * The stock compaction function: keeps the beginning and the newest messages, has the middle summarised. Given to `onCompaction`.
 *
 * I1. The range never begins or ends with a summary's id, and never separates a tool call from its result.
 * I2. Every message of the range is in the prompt, or was in the one of the summary it extends. So a range that extends a summary begins
 *     right behind it, even where the head would be protected.
 */
import type { UIMessage } from "ai";
import { COMPACTION_LIMITS } from "../../shared/limits";
import {
  alignBoundaryForward,
  findTailCutByTokens,
  isCompactionMessage,
  sanitizeToolPairs
} from "./boundaries";
import type { CompactFunction, TokenCounter } from "./compact-types";
import { normalizeCount } from "./estimate";
import { boundSummary, buildSummaryPrompt, computeSummaryBudget } from "./summary-prompt";
import { estimateMessageTokens } from "./tokens";

export interface CreateCompactFunctionOptions {
  /** Asks a model; an empty answer means that nothing is compacted. */
  readonly summarize: (prompt: string) => string | Promise<string>;
  /** First messages that are never summarised. Default 3. */
  readonly protectHead?: number;
  /** Newest messages that stay as they are, in tokens. Default 20,000. */
  readonly tailTokenBudget?: number;
  /** Newest messages that stay whatever they weigh. Default 2. */
  readonly minTailMessages?: number;
  /** Counts the tail. Default: the session's counter, else a heuristic. */
  readonly tokenCounter?: TokenCounter;
}

export function createCompactFunction(options: CreateCompactFunctionOptions): CompactFunction {
  const protectHead = options.protectHead ?? COMPACTION_LIMITS.protectHead;
  const tailTokenBudget = options.tailTokenBudget ?? COMPACTION_LIMITS.tailTokens;
  const minTailMessages = options.minTailMessages ?? COMPACTION_LIMITS.tailMessages;
  return async (messages, { tokenCounter }) => {
    if (messages.length <= protectHead + minTailMessages) return null;
    const headEnd = findHeadEnd(messages, protectHead);
    const counter = options.tokenCounter ?? tokenCounter;
    const tail = { headEnd, tailTokenBudget, minTailMessages };
    const counts = counter === undefined ? undefined : await countTail(messages, tail, counter);
    const count = (message: UIMessage) => counts?.get(message) ?? estimateMessageTokens(message);
    const cut = findTailCutByTokens(messages, headEnd, tailTokenBudget, minTailMessages, count);

    const middle = messages.slice(headEnd, cut);
    const range = middle.filter((message) => !isCompactionMessage(message));
    const first = range[0];
    const last = range.at(-1);
    if (first === undefined || last === undefined) return null;
    const prompt = buildSummaryPrompt(sanitizeToolPairs(range), {
      previousSummary: middle.filter(isCompactionMessage).map(textOf).join("\n\n"),
      budget: computeSummaryBudget(middle)
    });
    const summary = boundSummary(await options.summarize(prompt));
    return summary === "" ? null : { fromMessageId: first.id, toMessageId: last.id, summary };
  };
}

function findHeadEnd(messages: readonly UIMessage[], protectHead: number): number {
  const protectedEnd = alignBoundaryForward(messages, protectHead);
  const summary = messages.findIndex(isCompactionMessage);
  return summary === -1 ? protectedEnd : Math.min(summary, protectedEnd);
}

interface TailOptions {
  readonly headEnd: number;
  readonly tailTokenBudget: number;
  readonly minTailMessages: number;
}

/** Counts from the end, one message at a time and no further than the tail can reach: a tokeniser is not cheap. */
async function countTail(
  messages: readonly UIMessage[],
  { headEnd, tailTokenBudget, minTailMessages }: TailOptions,
  counter: TokenCounter
): Promise<Map<UIMessage, number>> {
  const counts = new Map<UIMessage, number>();
  let tokens = 0;
  for (const message of messages.slice(headEnd).toReversed()) {
    const count = normalizeCount(await counter({ messages: [message], systemPrompt: "", contextBlocks: [] }));
    counts.set(message, count);
    tokens += count;
    if (tokens > tailTokenBudget && counts.size > minTailMessages) break;
  }
  return counts;
}

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
