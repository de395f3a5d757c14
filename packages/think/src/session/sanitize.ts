/**
 * Takes out of a message what must not be stored: provider ids that a later request would refuse, reasoning that says nothing, and
 * the parts of the internal final-answer tool. Called for every message before it is compared or written.
 *
 * I1. A message with nothing to take out is returned as it is, not as a copy.
 */
import type { UIMessage } from "ai";
import { isRecord } from "../shared/json";
import { isCompactionMessage } from "./compaction/boundaries";
import type { Part } from "./parts";

/** Only valid for the response they came with; OpenAI refuses a request that repeats them. */
const PASSING_KEYS = ["itemId", "reasoningEncryptedContent"] as const;

const METADATA_KEYS = ["providerMetadata", "callProviderMetadata"] as const;

/** The message without passing provider metadata and blank reasoning. */
export function sanitizeMessage(message: UIMessage): UIMessage {
  const parts = message.parts.map(sanitizePart).filter((part) => !isBlankReasoning(part));
  const same =
    parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index]);
  return same ? message : { ...message, parts };
}

/**
 * The message without parts of the tool through which the model hands over a structured final answer; null when nothing of
 * substance is left.
 */
export function withoutFinalAnswer(message: UIMessage): UIMessage | null {
  if (message.role !== "assistant") return message;
  const parts = message.parts.filter((part) => !isFinalAnswer(part));
  if (parts.length === message.parts.length) return message;
  return parts.some((part) => part.type !== "step-start") ? { ...message, parts } : null;
}

function isFinalAnswer(part: Part): boolean {
  const name = part.type === "dynamic-tool" ? part.toolName : /^tool-(.*)$/s.exec(part.type)?.[1];
  return name !== undefined && /^think_final_answer(?:_\d+)?$/.test(name);
}

function sanitizePart(part: Part): Part {
  let result: Record<string, unknown> = part;
  for (const key of METADATA_KEYS) {
    const metadata = result[key];
    if (!isRecord(metadata) || !isRecord(metadata.openai)) continue;
    const openai = without(metadata.openai, PASSING_KEYS);
    if (openai === metadata.openai) continue;
    const { openai: _old, ...others } = metadata;
    const kept = isEmpty(openai) ? others : { ...others, openai };
    const { [key]: _metadata, ...rest } = result;
    result = isEmpty(kept) ? rest : { ...rest, [key]: kept };
  }
  return result === part ? part : (result as Part);
}

function isBlankReasoning(part: Part): boolean {
  // Clients send parts of any shape; only text that is there and says something counts.
  if (part.type !== "reasoning" || (typeof part.text === "string" && part.text.trim() !== "")) return false;
  return !isRecord(part.providerMetadata) || isEmpty(part.providerMetadata);
}

function without(record: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  if (!keys.some((key) => Object.hasOwn(record, key))) return record;
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}

function isEmpty(record: object): boolean {
  return Object.keys(record).length === 0;
}

/** What of a message is to be stored; null when nothing is. */
export function prepareMessage(message: UIMessage): UIMessage | null {
  // A summary is made from its own row whenever a path is read. Stored as a message it would be repeated, or be a forged one.
  if (isCompactionMessage(message)) return null;
  const answer = withoutFinalAnswer(message);
  return answer && sanitizeMessage(answer);
}
