/** The `write` tool: a whole file, with its parent directories. */
import { z } from "zod";
import { parentOf } from "../../workspace/paths";
import { withPath } from "./failure";
import { countLines } from "./format";
import type { WriteOperations } from "./operations";
import { serially } from "./serial";
import type { ToolFailure, WorkspaceTool } from "./tool-shape";

export interface WriteInput {
  readonly path: string;
  readonly content: string;
}

export type WriteOutput =
  | {
      readonly path: string;
      /** UTF-8 bytes. */
      readonly bytesWritten: number;
      readonly lines: number;
    }
  | ToolFailure;

const inputSchema = z.object({
  path: z.string().describe("Absolute path of the file, for example /notes/today.md"),
  content: z.string().describe("The complete new text of the file")
});

const description =
  "Write a text file of the workspace: creates it, or replaces all of it. Paths are absolute; missing parent " +
  "directories are created. To change a part of a file, use edit.";

/** Creates the `write` tool on any storage. */
export function createWriteTool(options: {
  readonly ops: WriteOperations;
}): WorkspaceTool<WriteInput, WriteOutput> {
  const { ops } = options;
  return {
    description,
    inputSchema,
    execute: (input) =>
      withPath<WriteOutput>(input.path, (path) => serially(ops, () => write(ops, path, input)))
  };
}

async function write(ops: WriteOperations, path: string, input: WriteInput): Promise<WriteOutput> {
  const existing = path === "/" ? undefined : await ops.stat?.(path);
  // The stock workspace would put the text into the directory's own row, where nothing can read it.
  if (path === "/" || existing?.type === "directory") {
    return { error: `${input.path} is a directory; choose a file name inside it.` };
  }
  const parent = parentOf(path);
  if (parent !== "/" && ops.createsParents !== true) await ops.mkdir(parent, { recursive: true });
  await ops.writeFile(path, input.content);
  return {
    path: input.path,
    bytesWritten: new TextEncoder().encode(input.content).byteLength,
    lines: countLines(input.content)
  };
}
