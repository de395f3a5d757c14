/** The `grep` tool: lines by regular expression or plain text, over the files of a glob. */
import { z } from "zod";
import { parseGlob, type Glob } from "../../workspace/glob";
import type { ContentEntry } from "../../workspace/stock-workspace";
import { storageMessage } from "./failure";
import { globCandidates } from "./find";
import { formatSize } from "./format";
import { grepFile, type GrepMatch } from "./grep-file";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import type { GrepOperations } from "./operations";
import { lineRegex } from "./regex/line-regex";
import type { LineMatcher } from "./regex/line-matcher";
import type { ToolFailure, WorkspaceTool } from "./tool-shape";

export interface GrepInput {
  readonly query: string;
  /** Default: every file. */
  readonly include?: string | undefined;
  /** Default: false. */
  readonly fixedString?: boolean | undefined;
  /** Default: false. */
  readonly caseSensitive?: boolean | undefined;
  /** Lines on each side. Default: 0, at most 10. */
  readonly contextLines?: number | undefined;
}

export type GrepOutput =
  | {
      readonly query: string;
      readonly filesSearched: number;
      readonly filesWithMatches: number;
      readonly totalMatches: number;
      readonly matches: readonly GrepMatch[];
      readonly truncated?: true;
      readonly filesSkipped?: number;
      readonly note?: string;
    }
  | ToolFailure;

const limits = WORKSPACE_TOOL_LIMITS;
const EVERYTHING = "**/*";

const inputSchema = z.object({
  query: z.string().describe("JavaScript regular expression, or plain text with fixedString"),
  include: z.string().optional().describe(`Glob of the files to search, ${EVERYTHING} when left out`),
  fixedString: z.boolean().optional().describe("Take the query as plain text"),
  caseSensitive: z.boolean().optional().describe("Tell upper and lower case apart"),
  contextLines: z
    .int()
    .min(0)
    .max(limits.grepContextLines)
    .optional()
    .describe("Lines to show before and after each match")
});

const description =
  "Search the text files of the workspace line by line. The query is a regular expression (without look-around and " +
  "back-references) and ignores case unless caseSensitive is set. Narrow the files with include.";

/** Creates the `grep` tool on any storage. */
export function createGrepTool(options: {
  readonly ops: GrepOperations;
}): WorkspaceTool<GrepInput, GrepOutput> {
  const { ops } = options;
  return {
    description,
    inputSchema,
    execute: async (input) => {
      try {
        return await grep(ops, input);
      } catch (error) {
        return { error: storageMessage(error, input.include ?? EVERYTHING) };
      }
    }
  };
}

async function grep(ops: GrepOperations, input: GrepInput): Promise<GrepOutput> {
  if (input.query.length > limits.grepQueryChars) {
    return {
      error: `The query is longer than ${limits.grepQueryChars} characters; search for a part of it.`
    };
  }
  const include = input.include ?? EVERYTHING;
  const parsed = parseGlob(include);
  if (!parsed.ok) return { error: parsed.error };
  const regex = lineRegex({
    pattern: input.query,
    fixedString: input.fixedString ?? false,
    caseSensitive: input.caseSensitive ?? false
  });
  if (!regex.ok) return { error: regex.error };
  const search = new Search(regex.matcher, Math.min(input.contextLines ?? 0, limits.grepContextLines));
  for await (const file of files(ops, include, parsed.glob)) {
    if (!search.visit(file)) break;
  }
  return search.result(input.query);
}

/** A file to search. Without `text` it is too large, binary, or gone. */
interface GrepFile {
  readonly path: string;
  readonly size: number;
  readonly text?: string;
}

async function* files(ops: GrepOperations, include: string, glob: Glob): AsyncIterable<GrepFile> {
  if (ops.scanContent !== undefined) {
    for await (const entry of ops.scanContent(glob.prefix, glob.suffix, limits.grepFileBytes)) {
      if (entry.info.type === "file" && glob.matches(entry.info.path)) yield toFile(entry);
    }
    return;
  }
  for (const info of await globCandidates(ops, include, glob)) {
    if (info.type !== "file" || (!glob.portable && !glob.matches(info.path))) continue;
    const content = info.size > limits.grepFileBytes ? null : await ops.readFile(info.path);
    yield toFile({ info, ...(content === null ? {} : { content }) });
  }
}

function toFile({ info, content }: ContentEntry): GrepFile {
  const text = content instanceof Uint8Array ? new TextDecoder().decode(content) : content;
  const binary = text === undefined || text.slice(0, limits.sniffBytes).includes("\0");
  return { path: info.path, size: info.size, ...(binary ? {} : { text }) };
}

/** One search: counts, and knows when it has enough. */
class Search {
  readonly #matcher: LineMatcher;
  readonly #contextLines: number;
  readonly #matches: GrepMatch[] = [];
  #filesSearched = 0;
  #filesWithMatches = 0;
  #filesSkipped = 0;
  #bytes = 0;
  #chars = 0;
  #stopped: string | undefined;

  constructor(matcher: LineMatcher, contextLines: number) {
    this.#matcher = matcher;
    this.#contextLines = contextLines;
  }

  /** Searches one file; false when the search is over. */
  visit(file: GrepFile): boolean {
    if (file.text === undefined) {
      this.#filesSkipped++;
      return true;
    }
    if (this.#bytes + file.size > limits.grepTotalBytes) {
      this.#stopped = `Stopped after ${formatSize(this.#bytes)} of text; narrow the search with include.`;
      return false;
    }
    this.#bytes += file.size;
    this.#filesSearched++;
    const target = {
      path: file.path,
      text: file.text,
      matcher: this.#matcher,
      contextLines: this.#contextLines
    };
    if (grepFile(target, (match) => this.#accept(match)) > 0) this.#filesWithMatches++;
    return this.#stopped === undefined;
  }

  #accept(match: GrepMatch): boolean {
    this.#matches.push(match);
    this.#chars += typeof match === "string" ? match.length : match.file.length + match.context.length;
    if (this.#matches.length < limits.grepMatches && this.#chars < limits.grepChars) return true;
    this.#stopped = `Stopped after ${this.#matches.length} matches; narrow the search.`;
    return false;
  }

  result(query: string): GrepOutput {
    const skipped =
      this.#filesSkipped === 0
        ? undefined
        : `${this.#filesSkipped} files were skipped: binary, or larger than ${formatSize(limits.grepFileBytes)}.`;
    const note = [this.#stopped, skipped].filter((part) => part !== undefined).join(" ");
    return {
      query,
      filesSearched: this.#filesSearched,
      filesWithMatches: this.#filesWithMatches,
      totalMatches: this.#matches.length,
      matches: this.#matches,
      ...(this.#stopped === undefined ? {} : { truncated: true }),
      ...(this.#filesSkipped === 0 ? {} : { filesSkipped: this.#filesSkipped }),
      ...(note === "" ? {} : { note })
    };
  }
}
