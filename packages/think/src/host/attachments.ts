/** Where media that leaves old messages is kept: the agent's workspace, when it has one. */
import type { AttachmentFiles } from "../session/media-eviction";

interface FileWriter {
  writeFile(path: string, content: string): Promise<void>;
}

export function attachmentFiles(agent: object): AttachmentFiles | undefined {
  const workspace = "workspace" in agent ? agent.workspace : undefined;
  return isFileWriter(workspace)
    ? { write: (path, content) => workspace.writeFile(path, content) }
    : undefined;
}

function isFileWriter(value: unknown): value is FileWriter {
  return (
    typeof value === "object" &&
    value !== null &&
    "writeFile" in value &&
    typeof value.writeFile === "function"
  );
}
