/** §2.4: random scripts on random workspaces in memory, with and without a way to ask for single names. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { createBashTool, type BashInput } from "./bash";
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

  it("of a stopped one is everything before the stop and nothing after it", { timeout: 60_000 }, async () => {
    // A file that was emptied gets its old content back when the script is stopped: that is another promise (bash.test.ts).
    const writes = scenario.filter(({ steps }) =>
      steps.every((step) => step.kind !== "write" || step.content.length > 0)
    );
    await fc.assert(
      fc.asyncProperty(writes, fc.nat(8), async (one, before) => {
        const workspace = new MemoryWorkspace();
        await workspace.writeFile("/marker", "");
        const stop = new AbortController();
        const tool = createBashTool({
          ops: {
            readDir: (at, page) => workspace.readDir(at, page),
            readFileBytes: (at) => {
              if (at === "/marker") stop.abort();
              return workspace.readFileBytes(at);
            },
            writeFile: (at, text) => workspace.writeFile(at, text),
            writeFileBytes: (at, bytes) => workspace.writeFileBytes(at, bytes),
            mkdir: (at, options) => workspace.mkdir(at, options),
            rm: (at, options) => workspace.rm(at, options)
          }
        });
        const bash = { execute: (input: BashInput) => tool.execute(input, { abortSignal: stop.signal }) };
        await checkWriteBack(workspace, bash, one, { before, command: "cat /marker; sleep 20" });
      }),
      { numRuns: 150 }
    );
  });
});
