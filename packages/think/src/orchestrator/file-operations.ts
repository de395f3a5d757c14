/**
 * Operations on shared files, in the parent. Called by `tool-bridge.ts`; the child's end is `remote-workspace.ts`.
 *
 * I1. Never throws: a failure of the storage is an answer with its text, because the tools read `ENOENT` and the like from it.
 * I2. A file or a list above its limit does not cross; the answer names the limit.
 */
import { errorText } from "../shared/errors/error-text";
import { ORCHESTRATOR_LIMITS } from "../shared/limits";
import type { WorkspaceLike } from "../workspace/workspace-like";
import { failure, type FileOperation, type FileReply } from "./bridge-protocol";

export async function runFileOperation(
  files: WorkspaceLike | undefined,
  operation: FileOperation
): Promise<FileReply> {
  if (!files) {
    return answer(
      failure(
        "tool-not-shared",
        "The parent shares no files. Give its ToolBridge a workspace, or keep the child's own."
      )
    );
  }
  try {
    return await perform(files, operation);
  } catch (error) {
    return answer(failure("tool-failed", errorText(error).slice(0, ORCHESTRATOR_LIMITS.errorChars)));
  }
}

async function perform(files: WorkspaceLike, operation: FileOperation): Promise<FileReply> {
  switch (operation.kind) {
    case "readFile":
      return (await tooLarge(files, operation.path)) ?? content(await files.readFile(operation.path));
    case "readFileBytes":
      return (await tooLarge(files, operation.path)) ?? content(await files.readFileBytes(operation.path));
    case "writeFile":
    case "writeFileBytes":
      return write(files, operation);
    case "readDir": {
      const limit = Math.min(operation.options.limit ?? 1000, ORCHESTRATOR_LIMITS.entries);
      return output(await files.readDir(operation.path, { ...operation.options, limit }));
    }
    case "glob":
      return entries(await files.glob(operation.pattern));
    case "stat":
      return output(await files.stat(operation.path));
    case "lstat":
      return output(await (files.lstat ? files.lstat(operation.path) : files.stat(operation.path)));
    case "mkdir":
      return output(await files.mkdir(operation.path, { recursive: operation.recursive }));
    case "rm":
      return output(await files.rm(operation.path, operation.options));
    default:
      return answer(failure("tool-not-shared", "There is no such operation on shared files."));
  }
}

async function write(
  files: WorkspaceLike,
  operation: Extract<FileOperation, { kind: "writeFile" | "writeFileBytes" }>
): Promise<FileReply> {
  const { path, mimeType } = operation;
  const type: [string?] = mimeType === undefined ? [] : [mimeType];
  const size = operation.content.length;
  if (size > ORCHESTRATOR_LIMITS.fileBytes)
    return answer(failure("tool-input-invalid", sizeText(path, size)));
  if (operation.kind === "writeFile") return output(await files.writeFile(path, operation.content, ...type));
  if (!files.writeFileBytes) throw new Error("ENOTSUP: the parent's workspace takes no binary files");
  return output(await files.writeFileBytes(path, operation.content, ...type));
}

async function tooLarge(files: WorkspaceLike, path: string): Promise<FileReply | undefined> {
  const size = (await files.stat(path))?.size ?? 0;
  if (size <= ORCHESTRATOR_LIMITS.fileBytes) return undefined;
  return answer(failure("tool-result-too-large", sizeText(path, size)));
}

function entries(found: readonly unknown[]): FileReply {
  if (found.length <= ORCHESTRATOR_LIMITS.entries) return output(found);
  const reason = `${found.length} entries match, and at most ${ORCHESTRATOR_LIMITS.entries} may cross; use a narrower pattern.`;
  return answer(failure("tool-result-too-large", reason));
}

function sizeText(path: string, size: number): string {
  return `${path} has ${size} bytes, and at most ${ORCHESTRATOR_LIMITS.fileBytes} may cross between parent and child.`;
}

const content = (value: string | Uint8Array | null): FileReply => ({ kind: "content", content: value });

const answer = (value: unknown): FileReply => ({ kind: "answer", answer: JSON.stringify(value) });

const output = (value: unknown): FileReply => answer({ ok: true, output: value ?? null });
