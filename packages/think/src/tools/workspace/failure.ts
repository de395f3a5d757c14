/** Turns what a storage throws into one sentence for the model. */
import { errorText } from "../../shared/errors/error-text";
import { parsePath } from "../../workspace/paths";
import { cutText } from "./format";
import type { ToolFailure } from "./tool-shape";

/** Longest storage message that is passed on, in UTF-16 code units. */
const MESSAGE_CHARS = 500;

/** Parses the path and runs the tool with it; every problem becomes a result. */
export async function withPath<Output>(
  path: string,
  run: (path: string) => Promise<Output | ToolFailure>
): Promise<Output | ToolFailure> {
  const parsed = parsePath(path);
  if (!parsed.ok) return { error: parsed.error };
  try {
    return await run(parsed.path);
  } catch (error) {
    return { error: storageMessage(error, parsed.path) };
  }
}

/** The storage's own message, with a remedy where we know one. */
export function storageMessage(error: unknown, path: string): string {
  const text = cutText(errorText(error), MESSAGE_CHARS);
  if (/TOOBIG|too big/i.test(text)) {
    return `${path} is too large for this workspace (${text}); split it into smaller files.`;
  }
  if (/ENOTDIR|exists as a file/.test(text)) {
    return `${text}; a part of the path is a file, so nothing can be stored below it.`;
  }
  if (text.includes("EISDIR")) return `${path} is a directory, not a file (${text}).`;
  return text;
}
