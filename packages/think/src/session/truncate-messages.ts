/**
 * Shortens what older messages carry into the prompt: large tool outputs and very long texts. The newest messages stay whole, and so does
 * everything in storage; only the copy for the model is cut. Called by the loop, and by users of sessions who call models themselves.
 */
import type { UIMessage } from "ai";
import { compactValue } from "./compact-value";
import type { Part } from "./parts";
import { LOOP_LIMITS } from "../shared/limits";

export interface TruncateOptions {
  /** Newest messages that stay whole. Default 4. */
  readonly keepRecent?: number;
  /** Longest tool output of an older message, in characters of its JSON. Default 500. */
  readonly maxToolOutputChars?: number;
  /** Longest text part of an older message, in characters. Default 10,000. */
  readonly maxTextChars?: number;
}

/** Messages with older ones shortened. The given objects are not touched; outputs keep their outer shape. */
export function truncateOlderMessages(
  messages: readonly UIMessage[],
  {
    keepRecent = LOOP_LIMITS.fullMessages,
    maxToolOutputChars = LOOP_LIMITS.olderOutputChars,
    maxTextChars = LOOP_LIMITS.olderTextChars
  }: TruncateOptions = {}
): UIMessage[] {
  const firstWhole = messages.length - keepRecent;
  const shorten = (part: Part): Part => {
    if (part.type === "text")
      return part.text.length > maxTextChars ? { ...part, text: cut(part.text, maxTextChars) } : part;
    if (!("output" in part) || part.output === undefined) return part;
    const output = compactValue(part.output, maxToolOutputChars);
    return output === part.output ? part : { ...part, output };
  };
  return messages.map((message, index) =>
    index < firstWhole ? { ...message, parts: message.parts.map(shorten) } : message
  );
}

function cut(text: string, length: number): string {
  return `${text.slice(0, length).toWellFormed()}… [truncated ${text.length - length} of ${text.length} characters]`;
}
