/** Where media that leaves old messages is kept: the agent's workspace, when it has one. */
import type { AttachmentFiles } from "../session/media-eviction";

interface Files {
  readFile(path: string): Promise<string | null>;
  writeFile(path: string, content: string): Promise<void>;
}

export function attachmentFiles(agent: object): AttachmentFiles | undefined {
  const workspace = "workspace" in agent ? agent.workspace : undefined;
  if (!isFiles(workspace)) return undefined;
  return {
    read: async (path) => (await workspace.readFile(path)) ?? null,
    write: (path, content) => workspace.writeFile(path, content)
  };
}

function isFiles(value: unknown): value is Files {
  return (
    typeof value === "object" &&
    value !== null &&
    "writeFile" in value &&
    typeof value.writeFile === "function" &&
    "readFile" in value &&
    typeof value.readFile === "function"
  );
}
