/** The `read` tool: numbered text, or a small record of an image, a PDF or a binary file whose bytes stay in storage. */
import { z } from "zod";
import type { EntryInfo } from "../../workspace/workspace-like";
import { withPath } from "./failure";
import { formatSize } from "./format";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import { cleanMediaType, isText, isVague, sniffMediaType } from "./media-type";
import type { ReadOperations } from "./operations";
import { LineCollector, viewLines, type LineRange, type LineView } from "./read-lines";
import { readModelOutput } from "./read-model-output";
import type { ConvertingTool, ToolFailure } from "./tool-shape";

export interface ReadInput extends LineRange {
  readonly path: string;
}

export interface ReadTextOutput {
  readonly path: string;
  /** Lines as `<number>\t<text>`. */
  readonly content: string;
  readonly totalLines: number;
  /** Only with `offset` or `limit`. */
  readonly fromLine?: number;
  readonly toLine?: number;
}

export interface ReadMediaOutput {
  readonly kind: "image" | "file" | "binary";
  readonly path: string;
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** Only for `binary`: there is no way to show the file to a model. */
  readonly unsupported?: true;
}

export type ReadOutput = ReadTextOutput | ReadMediaOutput | ToolFailure;

const inputSchema = z.object({
  path: z.string().describe("Absolute path of the file, for example /src/index.ts"),
  offset: z.int().min(1).optional().describe("First line to return, counted from 1"),
  limit: z.int().min(1).optional().describe("Number of lines to return")
});

const description =
  "Read a file of the workspace. Paths are absolute. Text comes back with line numbers; for a large text, choose a part " +
  "with offset and limit. Images and PDF files are shown to models that can look at them.";

/** Creates the `read` tool on any storage. */
export function createReadTool(options: {
  readonly ops: ReadOperations;
}): ConvertingTool<ReadInput, ReadOutput> {
  const { ops } = options;
  return {
    description,
    inputSchema,
    execute: (input) => withPath<ReadOutput>(input.path, (path) => read(ops, path, input)),
    toModelOutput: ({ input, output }) => readModelOutput(ops, input, output)
  };
}

async function read(ops: ReadOperations, path: string, input: ReadInput): Promise<ReadOutput> {
  const entry = await ops.readEntry?.(path, WORKSPACE_TOOL_LIMITS.wholeFileBytes);
  const info = entry === undefined ? await ops.stat(path) : entry?.info;
  if (info === null || info === undefined) return { error: `File not found: ${input.path}` };
  if (info.type === "directory") {
    return { error: `${input.path} is a directory; use the list tool to see what it holds.` };
  }
  const file = new OpenFile(ops, path, info, entry?.content);
  const mediaType = await file.mediaType();
  const kind = mediaKind(mediaType);
  if (kind !== "text") {
    const record = { path: input.path, name: info.name, mediaType, sizeBytes: info.size };
    return kind === "binary" ? { kind, ...record, unsupported: true } : { kind, ...record };
  }
  const view = await file.lines(input);
  if (typeof view === "string") return { error: view };
  const { content, totalLines, toLine } = view;
  if (input.offset === undefined && input.limit === undefined)
    return { path: input.path, content, totalLines };
  return { path: input.path, content, totalLines, fromLine: input.offset ?? 1, toLine };
}

function mediaKind(mediaType: string): ReadMediaOutput["kind"] | "text" {
  if (mediaType.startsWith("image/")) return "image";
  if (mediaType === "application/pdf") return "file";
  return isText(mediaType) ? "text" : "binary";
}

/** One file during one call. Content that was loaded to find the type is used again for the text. */
class OpenFile {
  readonly #ops: ReadOperations;
  readonly #path: string;
  readonly #info: EntryInfo;
  #content: string | Uint8Array | undefined;

  constructor(ops: ReadOperations, path: string, info: EntryInfo, content: string | Uint8Array | undefined) {
    this.#ops = ops;
    this.#path = path;
    this.#info = info;
    this.#content = content;
  }

  get #isLarge(): boolean {
    return this.#info.size > WORKSPACE_TOOL_LIMITS.wholeFileBytes;
  }

  async mediaType(): Promise<string> {
    const stored = cleanMediaType(this.#info.mimeType);
    if (!isVague(stored)) return stored;
    const head = await this.#head();
    return head === null ? stored || "application/octet-stream" : sniffMediaType(head);
  }

  async #head(): Promise<Uint8Array | null> {
    if (typeof this.#content === "string")
      return new TextEncoder().encode(this.#content.slice(0, WORKSPACE_TOOL_LIMITS.sniffBytes));
    if (this.#content !== undefined) return this.#content;
    if (this.#isLarge) return await this.#streamHead();
    const bytes = await this.#ops.readFileBytes(this.#path);
    if (bytes !== null) this.#content = bytes;
    return bytes;
  }

  async #streamHead(): Promise<Uint8Array | null> {
    const stream = await this.#ops.readFileStream?.(this.#path);
    if (stream === undefined || stream === null) return null;
    for await (const chunk of stream) return chunk;
    return new Uint8Array();
  }

  /** The lines of the range, or why they cannot be had. */
  async lines(range: LineRange): Promise<LineView | string> {
    if (this.#content instanceof Uint8Array) return viewLines(new TextDecoder().decode(this.#content), range);
    if (this.#content !== undefined) return viewLines(this.#content, range);
    if (this.#isLarge) return await this.#streamLines(range);
    const text = await this.#ops.readFile(this.#path);
    return text === null ? `Could not read file: ${this.#path} is gone.` : viewLines(text, range);
  }

  async #streamLines(range: LineRange): Promise<LineView | string> {
    const { wholeFileBytes, streamBytes } = WORKSPACE_TOOL_LIMITS;
    const size = formatSize(this.#info.size);
    if (this.#info.size > streamBytes) {
      return `Could not read file: ${this.#path} has ${size}, more than the ${formatSize(streamBytes)} that can be read; split it first.`;
    }
    const stream = await this.#ops.readFileStream?.(this.#path);
    if (stream === undefined) {
      return `Could not read file: ${this.#path} has ${size}, more than the ${formatSize(wholeFileBytes)} that this storage can read at once; split it first.`;
    }
    if (stream === null) return `Could not read file: ${this.#path} is gone.`;
    const collector = new LineCollector(range);
    const decoder = new TextDecoder();
    for await (const chunk of stream) collector.push(decoder.decode(chunk, { stream: true }));
    collector.push(decoder.decode());
    return collector.end();
  }
}
