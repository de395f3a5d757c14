/**
 * Makes a message fit into one SQLite row. Called for every message that is about to be written.
 *
 * I1. The JSON of a returned message has at most `LIMITS.messageBytes` bytes of UTF-8.
 * I2. A message far below the limit costs one `JSON.stringify`, which the write needs anyway, and no encoding.
 * I3. Cutting is deterministic: the same message always becomes the same row, so a client that repeats it causes no write.
 */
import type { UIMessage } from "ai";
import { ThinkError } from "../shared/errors/think-error";
import { LIMITS } from "../shared/limits";
import { compactValue } from "./compact-value";
import { MESSAGE_LIMITS } from "../shared/limits";
import { isDataUrl, isToolPart, type Part } from "./parts";

type Step = (part: Part) => Part;

/** A message as it will be stored, with its JSON. */
export interface RowMessage {
  readonly message: UIMessage;
  readonly json: string;
}

const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).byteLength;
}

/**
 * The message cut to the row limit; the same object when it fits. Throws a ThinkError `message-too-large` when cutting what may be
 * cut does not help.
 */
export function fitRow(message: UIMessage, limit: number = LIMITS.messageBytes): RowMessage {
  const json = JSON.stringify(message);
  if (fits(json, limit)) return { message, json };
  const assistant = message.role === "assistant";
  const steps: readonly Step[] = assistant ? [compactOutput, truncateText, shrinkOther] : [truncateText];
  const parts = [...message.parts];
  let bytes = utf8Bytes(json);
  for (const step of steps) {
    for (const [index, part] of parts.entries()) {
      // Outputs are cut together, so that one is not favoured over another; texts only until it fits.
      if (step !== compactOutput && bytes <= limit) break;
      const smaller = step(part);
      if (smaller === part) continue;
      bytes += utf8Bytes(JSON.stringify(smaller)) - utf8Bytes(JSON.stringify(part));
      parts[index] = smaller;
    }
    if (bytes <= limit) break;
  }
  const cut = { ...message, parts };
  if (bytes > limit) throw tooLarge(message, bytes, limit);
  return { message: cut, json: JSON.stringify(cut) };
}

function fits(json: string, limit: number): boolean {
  // A UTF-16 code unit is one to three bytes of UTF-8: only the range in between must be measured.
  if (json.length * 3 <= limit) return true;
  return json.length <= limit && utf8Bytes(json) <= limit;
}

function compactOutput(part: Part): Part {
  if (!isToolPart(part) || part.state !== "output-available") return part;
  const output = compactValue(part.output, MESSAGE_LIMITS.compactedChars);
  return output === part.output ? part : { ...part, output };
}

function truncateText(part: Part): Part {
  return part.type === "text" ? cutText(part) : part;
}

/** What else can fill a row, cut only when outputs and texts were not enough: losing it is better than losing the answer. */
function shrinkOther(part: Part): Part {
  if (part.type === "reasoning") return cutText(part);
  if (part.type === "file" && isDataUrl(part.url) && part.url.length > MESSAGE_LIMITS.compactedChars) {
    return {
      type: "text",
      text: `[File removed: ${part.mediaType}, ${part.url.length} chars were too large to store]`
    };
  }
  if (!isToolPart(part) || !("input" in part)) return part;
  const input = compactValue(part.input, MESSAGE_LIMITS.compactedChars);
  return input === part.input ? part : { ...part, input };
}

function cutText<TextPart extends Part & { readonly text: string }>(part: TextPart): TextPart {
  const { text } = part;
  if (typeof text !== "string" || text.length <= MESSAGE_LIMITS.compactedChars) return part;
  const start = text.slice(0, MESSAGE_LIMITS.truncatedTextChars).toWellFormed();
  return { ...part, text: `[Text truncated: ${text.length} chars were too many to store] ${start}` };
}

function tooLarge(message: UIMessage, bytes: number, limit: number): ThinkError {
  return new ThinkError(
    `Message ${message.id} needs ${bytes} bytes; at most ${limit} can be stored in a row. Send large files by reference (a URL or a workspace path) instead of inside the message.`,
    { code: "message-too-large" }
  );
}
