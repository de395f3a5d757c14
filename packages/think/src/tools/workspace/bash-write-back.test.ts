/** §2.4: random scripts on random workspaces in memory, with and without a way to ask for single names. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { createBashTool } from "./bash";
import { MemoryWorkspace } from "../../workspace/memory-workspace";
import { checkWriteBack, scenario } from "./write-back.test-support";

describe("§2.4 the write-back of a script", () => {
  it.each([
    ["asking for single names", true],
    ["listing directories", false]
  ])("equals a plain file tree, %s", { timeout: 60_000 }, async (_, single) => {
    await fc.assert(
      fc.asyncProperty(scenario, async (one) => {
        const workspace = new MemoryWorkspace();
        const bash = createBashTool({
          ops: {
            readDir: (at, page) => workspace.readDir(at, page),
            readFileBytes: (at) => workspace.readFileBytes(at),
            writeFile: (at, text) => workspace.writeFile(at, text),
            writeFileBytes: (at, bytes) => workspace.writeFileBytes(at, bytes),
            mkdir: (at, options) => workspace.mkdir(at, options),
            rm: (at, options) => workspace.rm(at, options),
            ...(single ? { lstat: (at: string) => workspace.stat(at) } : {})
          }
        });
        await checkWriteBack(workspace, bash, one);
      }),
      { numRuns: 300 }
    );
  });
});
