/** The `find` tool: paths by glob. */
import { z } from "zod";
import { parseGlob, type Glob } from "../../workspace/glob";
import type { EntryInfo } from "../../workspace/workspace-like";
import { storageMessage } from "./failure";
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import type { FindOperations } from "./operations";
import type { ToolFailure, WorkspaceTool } from "./tool-shape";

export interface FindInput {
  readonly pattern: string;
}

export type FindOutput =
  | {
      readonly pattern: string;
      /** All matches, also those not shown. */
      readonly count: number;
      readonly files: readonly string[];
      readonly truncated?: true;
      readonly showing?: number;
    }
  | ToolFailure;

const inputSchema = z.object({
  pattern: z.string().describe("Glob from the root, for example **/*.ts or /src/{lib,test}/**/*.md")
});

const description =
  "Find files and directories of the workspace by glob. The pattern starts at the root: use **/ for any depth. Supports " +
  "*, ?, **, [abc], [!abc] and {a,b}.";

/** Creates the `find` tool on any storage. */
export function createFindTool(options: {
  readonly ops: FindOperations;
}): WorkspaceTool<FindInput, FindOutput> {
  const { ops } = options;
  return {
    description,
    inputSchema,
    execute: async (input) => {
      const parsed = parseGlob(input.pattern);
      if (!parsed.ok) return { error: parsed.error };
      try {
        return await find(ops, input.pattern, parsed.glob);
      } catch (error) {
        return { error: storageMessage(error, input.pattern) };
      }
    }
  };
}

async function find(ops: FindOperations, pattern: string, glob: Glob): Promise<FindOutput> {
  const files: string[] = [];
  let count = 0;
  for await (const entry of matchingEntries(ops, pattern, glob)) {
    count++;
    if (files.length < WORKSPACE_TOOL_LIMITS.findPaths) {
      files.push(entry.type === "directory" ? `${entry.path}/` : entry.path);
    }
  }
  const cut = count > files.length ? { truncated: true as const, showing: files.length } : {};
  return { pattern, count, files, ...cut };
}

/** All entries that match, except the root itself. */
async function* matchingEntries(ops: FindOperations, pattern: string, glob: Glob): AsyncIterable<EntryInfo> {
  const candidates = ops.scan?.(glob.prefix) ?? (await globCandidates(ops, pattern, glob));
  // A storage's own glob may read a plain pattern in its own way; that is its business.
  const trusted = ops.scan === undefined && glob.portable;
  for await (const entry of candidates) {
    if (entry.path !== "/" && (trusted || glob.matches(entry.path))) yield entry;
  }
}

/** Asks the storage for the pattern itself when that is safe, else for everything below the pattern's fixed part. */
export async function globCandidates(
  ops: { glob(pattern: string): EntryInfo[] | Promise<EntryInfo[]> },
  pattern: string,
  glob: Glob
): Promise<EntryInfo[]> {
  if (glob.portable) return await ops.glob(pattern);
  return await ops.glob(glob.prefix.endsWith("/") ? `${glob.prefix}**` : glob.prefix);
}
