/** The `list` tool: one page of a directory. */
import { z } from "zod";
import type { EntryInfo } from "../../workspace/workspace-like";
import { withPath } from "./failure";
import { formatSize } from "./format";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import type { ListOperations } from "./operations";
import type { ToolFailure, WorkspaceTool } from "./tool-shape";

export interface ListInput {
  /** Default: `/`. */
  readonly path?: string | undefined;
  /** Default: 200, at most 1000. */
  readonly limit?: number | undefined;
  /** Default: 0. */
  readonly offset?: number | undefined;
}

export type ListOutput =
  | {
      readonly path: string;
      /** Entries on this page. */
      readonly count: number;
      readonly entries: readonly string[];
      /** Why the page is empty, or how to get the next one. */
      readonly note?: string;
    }
  | ToolFailure;

const { listEntries, listEntriesMax } = WORKSPACE_TOOL_LIMITS;

const inputSchema = z.object({
  path: z.string().optional().describe("Absolute path of the directory; / when left out"),
  limit: z
    .int()
    .min(1)
    .max(listEntriesMax)
    .optional()
    .describe(`Entries per page, ${listEntries} when left out`),
  offset: z.int().min(0).optional().describe("Entries to skip")
});

const description =
  "List a directory of the workspace: subdirectories end with /, files carry their size. Paths are absolute. Use limit " +
  "and offset to page through a large directory.";

/** Creates the `list` tool on any storage. */
export function createListTool(options: {
  readonly ops: ListOperations;
}): WorkspaceTool<ListInput, ListOutput> {
  const { ops } = options;
  return {
    description,
    inputSchema,
    execute: (input) => withPath<ListOutput>(input.path ?? "/", (path) => list(ops, path, input))
  };
}

async function list(ops: ListOperations, path: string, input: ListInput): Promise<ListOutput> {
  const limit = Math.min(input.limit ?? listEntries, listEntriesMax);
  const offset = input.offset ?? 0;
  // One more than the page, to know whether another follows.
  const found = await ops.readDir(path, { limit: limit + 1, offset });
  const entries = found.slice(0, limit).map(describe);
  const page = { path: input.path ?? "/", count: entries.length, entries };
  if (found.length > limit)
    return { ...page, note: `There are more entries; continue with offset ${offset + limit}.` };
  if (entries.length > 0) return page;
  const note = await emptyNote(ops, path, offset);
  return note === undefined ? page : { ...page, note };
}

function describe(entry: EntryInfo): string {
  if (entry.type === "directory") return `${entry.name}/`;
  return entry.type === "file" ? `${entry.name} (${formatSize(entry.size)})` : entry.name;
}

async function emptyNote(ops: ListOperations, path: string, offset: number): Promise<string | undefined> {
  if (path === "/" || offset > 0 || ops.stat === undefined) return undefined;
  const entry = await ops.stat(path);
  if (entry === null) return "There is no such directory.";
  return entry.type === "directory" ? undefined : "This is a file; use read to see it.";
}
