/** The `delete` tool. */
import { z } from "zod";
import { errorText } from "../../shared/errors/error-text";
import { parsePath } from "../../workspace/paths";
import type { DeleteOperations } from "./operations";
import { serially } from "./serial";
import type { ToolFailure, WorkspaceTool } from "./tool-shape";

export interface DeleteInput {
  readonly path: string;
  /** Default: false. */
  readonly recursive?: boolean | undefined;
}

export type DeleteOutput = { readonly deleted: string } | ToolFailure;

const inputSchema = z.object({
  path: z.string().describe("Absolute path of the file or directory"),
  recursive: z.boolean().optional().describe("Delete a directory with everything in it")
});

const description =
  "Delete a file or directory of the workspace. Paths are absolute. A directory that is not empty needs recursive. " +
  "Deleting what does not exist is not an error.";

/** Creates the `delete` tool on any storage. A directory that is not empty, without `recursive`, is a tool error. */
export function createDeleteTool(options: {
  readonly ops: DeleteOperations;
}): WorkspaceTool<DeleteInput, DeleteOutput> {
  const { ops } = options;
  return {
    description,
    inputSchema,
    execute: async (input) => {
      const parsed = parsePath(input.path);
      if (!parsed.ok) return { error: parsed.error };
      if (parsed.path === "/")
        return { error: "The root directory cannot be deleted; delete what is in it." };
      await serially(ops, () => remove(ops, parsed.path, input.recursive ?? false));
      return { deleted: input.path };
    }
  };
}

async function remove(ops: DeleteOperations, path: string, recursive: boolean): Promise<void> {
  try {
    await ops.rm(path, { recursive, force: true });
  } catch (error) {
    const text = errorText(error);
    const remedy = text.includes("ENOTEMPTY") ? "; set recursive to delete it with everything in it" : "";
    throw new Error(`Could not delete ${path}: ${text}${remedy}.`, { cause: error });
  }
}
