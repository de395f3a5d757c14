/** The trust boundary "workspace paths" of `design/threat-model.md`, on the real workspace: contained, told in one sentence. */
import { env } from "cloudflare:workers";
import { runInAgent } from "@cloudflare/think/testing";
import { createWorkspaceTools, type WorkspaceTools } from "@cloudflare/think/tools/workspace";
import { describe, expect, it } from "vitest";
import type { ExecuteAgent } from "./worker/execute-agents";

let counter = 0;

async function withTools<Result>(
  work: (tools: WorkspaceTools, agent: ExecuteAgent) => Promise<Result>
): Promise<Result> {
  const stub = env.ExecuteAgent.getByName(`escape-${(counter += 1)}`);
  return runInAgent(stub, async (agent: ExecuteAgent) => {
    await agent.workspace.writeFile("/inside.txt", "inside");
    const tools = createWorkspaceTools(agent.workspace, { bash: { timeout: 2_000, maxOutputBytes: 1_000 } });
    // A copy, so that nothing of the agent's isolate is held.
    return JSON.parse(JSON.stringify(await work(tools, agent))) as Result;
  });
}

const told = (output: unknown) => JSON.stringify(output);

describe("workspace paths", () => {
  it.each(["/../../inside.txt", "../inside.txt", "/a/../../../inside.txt", "//inside.txt", "./inside.txt"])(
    "§1.1.5 %j stays inside",
    async (path) => {
      expect(told(await withTools((tools) => tools.read.execute({ path })))).toContain("1\\tinside");
    }
  );

  it.each([
    ["a NUL", "/in\u0000side.txt"],
    ["4 KB of name", `/${"x".repeat(5_000)}`],
    ["the root", "/"],
    ["a directory", "/folder"],
    ["nothing", ""]
  ])("%s is an error that is told, and nothing changes", async (_what, path) => {
    const result = await withTools(async (tools, agent) => {
      await agent.workspace.mkdir("/folder", { recursive: true });
      const attempt = async (work: () => Promise<unknown>) =>
        work().catch((error: unknown) => ({ error: String(error) }));
      return {
        read: await attempt(() => tools.read.execute({ path })),
        write: await attempt(() => tools.write.execute({ path, content: "gone" })),
        edit: await attempt(() => tools.edit.execute({ path, old_string: "a", new_string: "b" })),
        files: (await agent.workspace.glob("/**")).map((entry) => entry.path)
      };
    });
    for (const answer of [result.read, result.write, result.edit])
      expect(answer).toMatchObject({ error: expect.any(String) });
    expect(result.files).toEqual(["/", "/folder", "/inside.txt"]);
  });

  it("reaches no other table of the agent's database, whatever the path says", async () => {
    const path = "/x'; DROP TABLE cf_workspace_default; --";
    const result = await withTools(async (tools) => [
      await tools.write.execute({ path, content: "kept" }),
      await tools.read.execute({ path }),
      await tools.read.execute({ path: "/inside.txt" })
    ]);
    expect(told(result)).toContain("1\\tkept");
    expect(told(result)).toContain("1\\tinside");
  });

  it("patterns that would backtrack for ever are answered at once", async () => {
    const result = await withTools(async (tools, agent) => {
      await agent.workspace.writeFile("/a.txt", "a".repeat(5_000));
      return [
        await tools.grep.execute({ query: "(a+)+$b" }),
        await tools.grep.execute({ query: "([" }),
        await tools.find.execute({ pattern: `/${"*a".repeat(50)}` })
      ];
    });
    expect(result).toMatchObject([
      { totalMatches: 0 },
      { error: expect.stringContaining("Invalid") },
      { count: 0 }
    ]);
  });
});
