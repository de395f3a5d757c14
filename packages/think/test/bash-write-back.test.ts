/** §2.4: random scripts on random workspaces of the stock class, in a Durable Object's SQLite. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { Workspace } from "@cloudflare/shell";
import { createWorkspaceTools } from "@cloudflare/think/tools/workspace";
import fc from "fast-check";
import { describe, it } from "vitest";
import { checkWriteBack, scenario } from "../src/tools/workspace/write-back.test-support";

describe("§2.4 the write-back of a script on the stock workspace", () => {
  it.each([
    ["as it is", false],
    ["behind a proxy", true]
  ])("equals a plain file tree, %s", { timeout: 60_000 }, (_, proxied) =>
    runInDurableObject(env.ToolsLab.getByName(`write-back-${proxied}`), async (_lab, { storage }) => {
      let run = 0;
      const check = fc.asyncProperty(scenario, async (one) => {
        const workspace = new Workspace({ sql: storage.sql, namespace: `run${(run += 1)}`, name: "lab" });
        // A patched method means that someone wants to see the calls: then the plain interface is used.
        if (proxied) workspace.readDir = workspace.readDir.bind(workspace);
        await checkWriteBack(workspace, createWorkspaceTools(workspace).bash, one);
      });
      await fc.assert(check, { numRuns: 120, seed: 20_261_118 });
    })
  );
});
