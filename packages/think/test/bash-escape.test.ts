/** The trust boundary "bash" of `design/threat-model.md`, on the real workspace: scripts see the workspace and nothing else, and end. */
import { env } from "cloudflare:workers";
import { runInAgent } from "@cloudflare/think/testing";
import { createWorkspaceTools, type WorkspaceTools } from "@cloudflare/think/tools/workspace";
import { describe, expect, it } from "vitest";
import type { ExecuteAgent } from "./worker/execute-agents";

let counter = 0;

async function withTools<Result>(
  work: (tools: WorkspaceTools, agent: ExecuteAgent) => Promise<Result>,
  timeoutMs = 20_000
): Promise<Result> {
  const stub = env.ExecuteAgent.getByName(`bash-escape-${(counter += 1)}`);
  return runInAgent(stub, async (agent: ExecuteAgent) => {
    await agent.workspace.writeFile("/inside.txt", "inside");
    const tools = createWorkspaceTools(agent.workspace, {
      bash: { timeout: timeoutMs, maxOutputBytes: 1_000 }
    });
    // A copy, so that nothing of the agent's isolate is held.
    return JSON.parse(JSON.stringify(await work(tools, agent))) as Result;
  });
}

const told = (output: unknown) => JSON.stringify(output);

describe("bash", () => {
  it.each([
    ["an endless loop", "while true; do :; done"],
    ["recursion like a fork bomb", "f() { f | f & }; f; f() { f; f; }; f"],
    ["a gigabyte of output", "yes | head -c 1000000000"],
    ["a string that doubles", "s=x; while true; do s=$s$s; done"]
  ])("§2 %s ends, with little output, and the files are as they were", async (_what, script) => {
    const { output, file } = await withTools(
      async (tools, agent) => ({
        output: await tools.bash.execute({ script }),
        file: await agent.workspace.readFile("/inside.txt")
      }),
      2_000
    );
    expect(told(output).length).toBeLessThan(10_000);
    expect(file).toBe("inside");
  });

  it("§2.2 sees no host: no network, no environment, no processes, no files but those of the workspace", async () => {
    const output = await withTools((tools) =>
      tools.bash.execute({
        script: "curl https://example.com; env | grep -i -c LOADER; cat /etc/passwd /proc/self/environ; ls /"
      })
    );
    expect(output).toMatchObject({ stderr: expect.stringContaining("curl: command not found") });
    expect(told(output)).not.toContain("root:");
    expect(told(output)).not.toContain("LOADER=");
  });

  it("§2.2 cannot leave the root by links or dots", async () => {
    const output = await withTools((tools) =>
      tools.bash.execute({ script: "cat /../../inside.txt; ln -s / up; cat up/up/inside.txt; cd ../..; pwd" })
    );
    expect(told(output)).toContain("inside");
    expect(told(output)).not.toContain("/work");
  });

  it.each(["node", "js-exec", "python3", "sqlite3", "ssh", "nc", "wget", "sudo", "docker", "kill -9 1"])(
    "§2.2 has no %s",
    async (command) => {
      const output = await withTools((tools) =>
        tools.bash.execute({ script: `${command} -e 1; echo "code $?"` })
      );
      expect(output).toMatchObject({ stdout: expect.stringMatching(/code (1|2|126|127)\n$/) });
    }
  );

  it("§2.2 cannot reach JavaScript: names of the host are plain words, and prototypes stay as they are", async () => {
    const output = await withTools((tools) =>
      tools.bash.execute({
        script: [
          'echo "$constructor $__proto__ $prototype ${process} ${globalThis}"',
          "__proto__=x; constructor=y; declare -A m; m[__proto__]=polluted; echo ${m[__proto__]}",
          "echo '{\"__proto__\":{\"polluted\":1}}' | jq -c '.polluted'",
          "awk 'BEGIN { a[\"__proto__\"] = 1; print length(a) }'"
        ].join("\n")
      })
    );
    expect(output).toMatchObject({ exitCode: 0 });
    expect(told(output)).not.toContain("function");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("§2.4 cannot put files into other places: what it leaves behind are paths of the workspace", async () => {
    const paths = await withTools(async (tools, agent) => {
      await tools.bash.execute({
        script:
          "mkdir -p /a/../../b; echo x > /../../c; ln -s /../.. /l; echo y > /l/d; touch /dev/evil /proc/evil /bin/evil"
      });
      return (await agent.workspace.glob("/**")).map(({ path }) => path);
    });
    expect(paths).toEqual(["/", "/b", "/c", "/d", "/inside.txt"]);
  });
});
