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

/** What older messages became with the default options: shortened once, and the same object each time. */
const shortenedBefore = new WeakMap<UIMessage, UIMessage>();

/**
 * Messages with older ones shortened. The given objects are not touched; outputs keep their outer shape. A message that needs no cut comes
 * back as it is, so that its conversion can be remembered.
 */
export function truncateOlderMessages(
  messages: readonly UIMessage[],
  options: TruncateOptions = {}
): UIMessage[] {
  const {
    keepRecent = LOOP_LIMITS.fullMessages,
    maxToolOutputChars = LOOP_LIMITS.olderOutputChars,
    maxTextChars = LOOP_LIMITS.olderTextChars
  } = options;
  const isDefault = options.maxToolOutputChars === undefined && options.maxTextChars === undefined;
  const firstWhole = messages.length - keepRecent;
  const shorten = (part: Part): Part => {
    if (part.type === "text")
      return part.text.length > maxTextChars ? { ...part, text: cut(part.text, maxTextChars) } : part;
    if (!("output" in part) || part.output === undefined) return part;
    const output = compactValue(part.output, maxToolOutputChars);
    return output === part.output ? part : { ...part, output };
  };
  const older = (message: UIMessage): UIMessage => {
    const known = isDefault ? shortenedBefore.get(message) : undefined;
    if (known) return known;
    const parts = message.parts.map(shorten);
    const isCut = parts.some((part, index) => part !== message.parts[index]);
    const result = isCut ? { ...message, parts } : message;
    if (isDefault) shortenedBefore.set(message, result);
    return result;
  };
  return messages.map((message, index) => (index < firstWhole ? older(message) : message));
}

function cut(text: string, length: number): string {
  return `${text.slice(0, length).toWellFormed()}… [truncated ${text.length - length} of ${text.length} characters]`;
}
