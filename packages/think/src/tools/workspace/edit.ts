/** The `edit` tool: replaces one exact, unique piece of a text file. */
import { z } from "zod";
import { withPath } from "./failure";
import { countLines, cutText, formatSize } from "./format";
import { lineAt, looseOccurrences, nearestLine, occurrences, type Span } from "./edit-match";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import { looksLikeText } from "./media-type";
import type { EditOperations } from "./operations";
import { serially } from "./serial";
import type { ToolFailure, WorkspaceTool } from "./tool-shape";

export interface EditInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
}

export type EditOutput =
  | { readonly path: string; readonly created: true; readonly lines: number }
  | {
      readonly path: string;
      readonly replaced: true;
      /** The text only matched with blanks and line ends taken loosely. */
      readonly fuzzyMatch?: true;
      readonly lines: number;
    }
  | ToolFailure;

const inputSchema = z.object({
  path: z.string().describe("Absolute path of the file"),
  old_string: z
    .string()
    .describe("The exact text to replace; it must occur once. Empty to create a new file."),
  new_string: z.string().describe("The text to put in its place, taken literally")
});

const description =
  "Change a part of a text file of the workspace. old_string must be exact, blanks and line breaks included, and occur " +
  "only once: add surrounding lines to make it unique. An empty old_string creates a new file. Paths are absolute.";

/** Creates the `edit` tool on any storage. */
export function createEditTool(options: {
  readonly ops: EditOperations;
}): WorkspaceTool<EditInput, EditOutput> {
  const { ops } = options;
  return {
    description,
    inputSchema,
    execute: (input) =>
      withPath<EditOutput>(input.path, (path) => serially(ops, () => edit(ops, path, input)))
  };
}

async function edit(ops: EditOperations, path: string, input: EditInput): Promise<EditOutput> {
  const current = await load(ops, path, input.path);
  if (current !== null && typeof current !== "string") return current;
  if (input.old_string === "") {
    if (current !== null) {
      return { error: `${input.path} already exists; give the text to replace in old_string, or use write.` };
    }
    await ops.writeFile(path, input.new_string);
    return { path: input.path, created: true, lines: countLines(input.new_string) };
  }
  if (current === null) return { error: `File not found: ${input.path}` };
  const place = locate(current, input);
  if ("error" in place) return place;
  const next = current.slice(0, place.start) + input.new_string + current.slice(place.end);
  await ops.writeFile(path, next);
  const fuzzy = place.fuzzy ? { fuzzyMatch: true as const } : {};
  return { path: input.path, replaced: true, ...fuzzy, lines: countLines(next) };
}

/** The file's text, null when there is none, or why it cannot be edited. */
async function load(ops: EditOperations, path: string, shown: string): Promise<string | null | ToolFailure> {
  const { wholeFileBytes } = WORKSPACE_TOOL_LIMITS;
  const entry = await ops.readEntry?.(path, wholeFileBytes);
  if (entry === null) return null;
  const info = entry === undefined ? await ops.stat?.(path) : entry.info;
  if (info === null) return null;
  if (info?.type === "directory") return { error: `${shown} is a directory, not a file.` };
  if (info !== undefined && info.size > wholeFileBytes) {
    return {
      error: `${shown} has ${formatSize(info.size)}, more than the ${formatSize(wholeFileBytes)} that edit can load; split it first.`
    };
  }
  const content = entry?.content ?? (await ops.readFile(path));
  if (content === null) return null;
  if (typeof content !== "string") return decode(content, shown);
  // A storage that decodes for us hides broken bytes behind this character; writing it back would destroy the file.
  if (!content.includes("\uFFFD") && !content.includes("\0")) return content;
  const bytes = await ops.readFileBytes?.(path);
  return bytes === undefined || bytes === null ? content : decode(bytes, shown);
}

function decode(bytes: Uint8Array, shown: string): string | ToolFailure {
  const binary = { error: `${shown} is a binary file; edit only changes text.` };
  if (!looksLikeText(bytes)) return binary;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return binary;
  }
}

function locate(text: string, input: EditInput): (Span & { readonly fuzzy: boolean }) | ToolFailure {
  const exact = occurrences(text, input.old_string);
  const [start] = exact;
  if (start !== undefined) {
    if (exact.length === 1) return { start, end: start + input.old_string.length, fuzzy: false };
    return { error: ambiguous(text, exact, input) };
  }
  const loose = looseOccurrences(text, input.old_string);
  const [span] = loose;
  if (span !== undefined) {
    if (loose.length === 1) return { ...span, fuzzy: true };
    const lines = linesOf(
      text,
      loose.map(({ start }) => start)
    );
    return {
      error: `old_string matches multiple locations in ${input.path} (lines ${lines}) when blanks are ignored; copy one of them exactly.`
    };
  }
  const nearest = nearestLine(text, input.old_string);
  const hint =
    nearest === undefined
      ? "read the file and copy the text exactly"
      : `the nearest is line ${nearest.line}: ${cutText(nearest.text, WORKSPACE_TOOL_LIMITS.lineChars)}`;
  return { error: `old_string was not found in ${input.path}; ${hint}` };
}

function ambiguous(text: string, found: readonly number[], input: EditInput): string {
  const { countedMatches } = WORKSPACE_TOOL_LIMITS;
  const count = found.length > countedMatches ? `more than ${countedMatches}` : `${found.length}`;
  return `old_string appears ${count} times in ${input.path} (lines ${linesOf(text, found)}); add surrounding text to make it unique.`;
}

/** The first few line numbers. */
function linesOf(text: string, positions: readonly number[]): string {
  const shown = positions.slice(0, 5).map((position) => lineAt(text, position));
  return [...new Set(shown), ...(positions.length > shown.length ? ["..."] : [])].join(", ");
}
