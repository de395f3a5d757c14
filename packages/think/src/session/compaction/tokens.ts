/**
 * Rough token counts without a tokeniser. Used for thresholds, the tail of a compaction and context budgets; callers who need better
 * bring a counter. Never throws, whatever a message holds.
 */
import type { UIMessage } from "ai";
import { isRecord } from "../../shared/json";

/** What every message costs besides its parts. */
const MESSAGE_OVERHEAD = 4;

/** Tokens of a text: a quarter of its characters or 1.3 times its words, whichever is more. */
export function estimateStringTokens(text: string): number {
  // 13/10 and not 1.3: the product would otherwise round up to one too many.
  return Math.ceil(Math.max(text.length / 4, (countWords(text) * 13) / 10));
}

/** Tokens of a message: 4, and its texts, reasonings, tool inputs and tool outputs. Files count nothing. */
export function estimateMessageTokens(message: Pick<UIMessage, "parts">): number {
  const parts: unknown = message.parts;
  if (!Array.isArray(parts)) return MESSAGE_OVERHEAD;
  return parts.reduce((sum: number, part) => sum + partTokens(part), MESSAGE_OVERHEAD);
}

export function estimateMessagesTokens(messages: readonly Pick<UIMessage, "parts">[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
}

function partTokens(part: unknown): number {
  if (!isRecord(part) || typeof part.type !== "string") return 0;
  if (part.type === "text" || part.type === "reasoning") {
    return typeof part.text === "string" ? estimateStringTokens(part.text) : 0;
  }
  if (part.type !== "dynamic-tool" && !part.type.startsWith("tool-")) return 0;
  return [part.input, part.output, part.errorText].reduce(
    (sum: number, value) => sum + estimateStringTokens(jsonText(value)),
    0
  );
}

/** A value as JSON; what JSON cannot hold counts by its name, undefined as nothing. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Words between white space, without an array of them: texts can have megabytes. */
function countWords(text: string): number {
  let words = 0;
  let inside = false;
  for (let index = 0; index < text.length; index += 1) {
    const space = isSpace(text.charCodeAt(index));
    if (!space && !inside) words += 1;
    inside = !space;
  }
  return words;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x2028 || code === 0x3000;
}
