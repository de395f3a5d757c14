/**
 * A child uses what its parent shares, and nothing else (seed 003, "Cross-boundary tools via ToolBridge" and "Cross-boundary abort";
 * `design/orchestrator.md`, invariants 1 to 7).
 */
import { env } from "cloudflare:workers";
import { createWorkspaceTools } from "@cloudflare/think/tools/workspace";
import { crash, crashAll, evict, evictAll, runInAgent, toolCall } from "@cloudflare/think/testing";
import { tool } from "ai";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { newFamily, told } from "./orchestrator-support";
import type { Orchestrator } from "./worker/orchestrator-agents";
import { WORKSPACE_TOOLS } from "./workspace-names";

const text = (execute: (input: { said: string }, signal: AbortSignal | undefined) => unknown) =>
  tool({
    description: "Does something with a text.",
    inputSchema: z.object({ said: z.string().max(20) }),
    execute: ({ said }, { abortSignal }) => execute({ said }, abortSignal)
  });

describe("the parent's files as the child's workspace", () => {
  it("lets the child's own tools work on them, when the parent says so", async () => {
    const family = newFamily(
      [
        toolCall("read", { path: "/notes/plan.md" }),
        toolCall("write", { path: "/notes/result.md", content: "Found it." }),
        toolCall("grep", { query: "Found" }),
        toolCall("bash", { script: "ls /notes && cat /notes/plan.md" }),
        "Done."
      ],
      (parent) => ({ workspace: { files: () => parent.workspace, access: "read-write" } })
    );
    await family.write("/notes/plan.md", "The plan.");
    expect(await family.ask()).toBe("said Done.");
    expect(told(family.model, 1)).toContain("The plan.");
    expect(told(family.model, 3)).toContain("/notes/result.md");
    expect(told(family.model, 4)).toContain("plan.md\\nresult.md");
    const stored = await runInAgent(family.stub(), (agent) => agent.workspace.readFile("/notes/result.md"));
    expect(stored).toBe("Found it.");
  });

  it("is read-only unless the parent says otherwise, and nothing without a workspace", async () => {
    const reader = newFamily([], (parent) => ({ workspace: { files: () => parent.workspace } }));
    await reader.write("/a.txt", "a");
    expect(await reader.file("read", "/a.txt")).toBe("a");
    expect(await reader.file("read", "/b.txt")).toBe("missing");
    expect(await reader.file("write", "/a.txt", "b")).toContain("read-only");
    expect(await reader.file("remove", "/a.txt")).toContain("read-only");
    const nothing = newFamily([], () => ({}));
    expect(await nothing.file("read", "/a.txt")).toContain("shares no files");
  });

  it("ends at the root that was shared, also through dots and symbolic links", async () => {
    const family = newFamily([], (parent) => ({
      workspace: { files: () => parent.workspace, access: "read-write", root: "/shared/project" }
    }));
    await family.write("/shared/project/in.txt", "inside");
    await family.write("/secret/out.txt", "outside");
    await runInAgent(family.stub(), async (agent) => {
      const stock = agent.workspace as unknown as { symlink(target: string, path: string): Promise<void> };
      await stock.symlink("/secret/out.txt", "/shared/project/link.txt");
      await stock.symlink("/secret", "/shared/project/linked");
    });
    expect(await family.file("read", "/shared/project/in.txt")).toBe("inside");
    expect(await family.file("list", "/")).toBe("/shared");
    expect(await family.file("list", "/shared")).toBe("/shared/project");
    for (const path of [
      "/secret/out.txt",
      "/shared/project/../../secret/out.txt",
      "/shared/project/link.txt",
      "/shared/project/linked/out.txt",
      "/shared/projectile"
    ]) {
      expect(await family.file("read", path)).toContain("EACCES");
      expect(await family.file("write", path, "x")).toContain("EACCES");
    }
    expect(await family.file("list", "/secret")).toContain("EACCES");
    expect(await family.file("remove", "/shared/project")).toContain("EPERM");
    expect(await family.file("read", "/shared/project/\0")).toContain("EINVAL");
    await runInAgent(family.stub(), async (agent) =>
      expect(await agent.workspace.readFile("/secret/out.txt")).toBe("outside")
    );
  });

  it("can be handed on to a child of the child", async () => {
    const family = newFamily([], (parent) => ({ workspace: { files: () => parent.workspace } }));
    await family.write("/a.txt", "from the top");
    expect(await family.stub().askBelow(family.helper, "below", "/a.txt")).toBe("from the top");
  });

  it("refuses a file that is too large for the line", async () => {
    const family = newFamily([], (parent) => ({
      workspace: { files: () => parent.workspace, access: "read-write" }
    }));
    await runInAgent(family.stub(), (agent) => {
      const { workspace } = agent;
      const stat = workspace.stat.bind(workspace);
      vi.spyOn(workspace, "stat").mockImplementation(async (path) => {
        const info = await stat(path);
        return info && { ...info, size: 9 * 1024 * 1024 };
      });
      return workspace.writeFile("/big.bin", "x");
    });
    expect(await family.file("read", "/big.bin")).toContain("at most 8388608 may cross");
  });
});

describe("the parent's tools in the child", () => {
  it("are those that were listed, MCP tools under stable names, and run in the parent", async () => {
    const ran: string[] = [];
    const family = newFamily(
      [toolCall("echo_echo", { said: "hi" }), toolCall("note", { said: "there" }), "Done."],
      (parent) => ({
        tools: () => ({
          ...parent.echoTools(),
          note: text(({ said }) => void ran.push(`${parent.name}: ${said}`))
        })
      })
    );
    await runInAgent(
      family.stub(),
      async (agent) => void (await agent.addMcpServer("echo", env.LoopMcpServer as never))
    );
    expect(await family.ask()).toBe("said Done.");
    expect(family.model.calls[0]?.toolNames).toEqual([...WORKSPACE_TOOLS, "echo_echo", "note"]);
    expect(family.model.calls[0]?.tools.find(({ name }) => name === "note")).toMatchObject({
      description: "Does something with a text.",
      inputSchema: { properties: { said: { type: "string", maxLength: 20 } }, required: ["said"] }
    });
    expect(told(family.model, 1)).toContain("You said: hi");
    expect(ran).toEqual([`${family.parent}: there`]);
  });

  it("run serialised in the parent when they are file tools, with the files that the parent chose", async () => {
    const family = newFamily([toolCall("grep", { query: "needle" }), "Done."], (parent) => {
      const { grep } = createWorkspaceTools(parent.workspace, { bash: false });
      return { tools: { grep } };
    });
    await family.write("/hay.txt", "a needle");
    await family.ask();
    expect(told(family.model, 1)).toContain("a needle");
  });

  it("are refused when they were not shared, whatever the name", async () => {
    const family = newFamily(["unused"], () => ({ tools: { note: text(() => "noted") } }));
    const call = (name: unknown, input = '{"said":"x"}', callId = "1") =>
      runInAgent(family.stub(), async (agent: Orchestrator) =>
        (await agent.toolBridge()).call({ callId, tool: name as string, input })
      );
    for (const name of [
      ...["secret", "__proto__", "constructor", "toString", "hasOwnProperty", "prototype"],
      ...["", "no te", "note\0", "n".repeat(65), "../note", undefined, 7, {}]
    ]) {
      expect(JSON.parse(await call(name)), JSON.stringify(name)).toMatchObject({
        ok: false,
        code: "tool-not-shared"
      });
    }
    expect(JSON.parse(await call("note"))).toEqual({ ok: true, output: "noted" });
  });

  it("see only inputs that fit their schema", async () => {
    const seen: unknown[] = [];
    const family = newFamily(["unused"], () => ({ tools: { note: text((input) => void seen.push(input)) } }));
    const call = (input: string, callId = "1") =>
      runInAgent(family.stub(), async (agent: Orchestrator) =>
        JSON.parse(await (await agent.toolBridge()).call({ callId, tool: "note", input }))
      );
    const deep = `${'{"a":'.repeat(300)}1${"}".repeat(300)}`;
    for (const input of [
      ...["{}", '{"said":7}', '"said"', "null", "[]", "{", "", deep],
      ...[`{"said":"${"x".repeat(21)}"}`, '{"said":"x","__proto__":{"admin":true}}', " ".repeat(1_000_001)]
    ]) {
      expect(await call(input), input.slice(0, 50)).toMatchObject({ code: "tool-input-invalid" });
    }
    expect(await call("{}", "")).toMatchObject({ code: "tool-input-invalid" });
    expect(await call("{}", "i".repeat(129))).toMatchObject({ code: "tool-input-invalid" });
    expect(seen).toEqual([]);
    expect(await call('{"said":"x","more":1}')).toMatchObject({ ok: true });
    expect(seen).toEqual([{ said: "x" }]);
  });

  it("tell the child what went wrong, as errors of the tool and not of the turn", async () => {
    const family = newFamily(
      [
        toolCall("fails", { said: "x" }),
        toolCall("large", { said: "x" }),
        toolCall("circular", { said: "x" }),
        toolCall("fails", { said: "much too long for the schema" }),
        "Done."
      ],
      () => ({
        resultChars: 1000,
        tools: {
          fails: text(() => {
            throw new Error("the disk is full");
          }),
          large: text(() => "y".repeat(5000)),
          circular: text(() => {
            const loop: Record<string, unknown> = {};
            return (loop.self = loop);
          })
        }
      })
    );
    expect(await family.ask()).toBe("said Done.");
    expect(told(family.model, 1)).toContain("the disk is full");
    expect(told(family.model, 2)).toContain("at most 1000 may cross; ask for less");
    expect(told(family.model, 2)).not.toContain("yyyyyyyy");
    expect(told(family.model, 3)).toContain("cannot be written as JSON");
    expect(told(family.model, 4)).toContain("does not fit its schema");
  });

  it("cannot be shared without execute or with an approval: the child's turn fails and says why", async () => {
    const client = newFamily(["unused"], () => ({
      tools: { ask: tool({ description: "Asks.", inputSchema: z.object({}) }) }
    }));
    expect(await client.ask()).toContain('"ask" has no execute()');
    const guarded = newFamily(["unused"], () => ({
      tools: { pay: { ...text(() => "paid"), needsApproval: true } }
    }));
    expect(await guarded.ask()).toContain('"pay" needs approval');
  });

  it("carry no functions and no stubs to the child", async () => {
    const family = newFamily([toolCall("leak", { said: "x" }), "Done."], (parent) => ({
      tools: { leak: text(() => ({ run: () => parent, at: new Date(0), parent: parent.name })) }
    }));
    await family.ask();
    const output = { type: "json", value: { at: "1970-01-01T00:00:00.000Z", parent: family.parent } };
    expect(told(family.model, 1)).toContain(JSON.stringify(output));
  });
});

describe("time and number", () => {
  it("a call that takes too long ends, and its tool is told to stop", async () => {
    const state = { stopped: false };
    const family = newFamily([toolCall("slow", { said: "x" }), "Done."], () => ({
      callTimeoutMs: 20,
      tools: { slow: text((_, signal) => untilStopped(state, signal)) }
    }));
    await family.ask();
    expect(told(family.model, 1)).toContain("did not answer within 20 ms");
    expect(state.stopped).toBe(true);
  });

  it("more calls at once than allowed are refused, and the id of one that runs cannot be taken", async () => {
    const family = newFamily(["unused"], () => ({
      concurrentCalls: 2,
      tools: { slow: text((_, signal) => untilStopped({ stopped: false }, signal)) }
    }));
    const answers = await runInAgent(family.stub(), async (agent: Orchestrator) => {
      const bridge = await agent.toolBridge();
      const call = (callId: string) => bridge.call({ callId, tool: "slow", input: '{"said":"x"}' });
      const running = [call("1"), call("2")];
      const refused = [await call("2"), await call("3")];
      await bridge.abort("unknown");
      await bridge.abort("1");
      await bridge.abort("2");
      return [...refused, ...(await Promise.all(running))].map((answer) => JSON.parse(answer).code);
    });
    expect(answers).toEqual(["tool-input-invalid", "bridge-busy", "tool-aborted", "tool-aborted"]);
  });

  it("the parent's abort stops the child's turn, which stops the call in the parent", async () => {
    const state = { started: false, stopped: false };
    const family = newFamily([toolCall("slow", { said: "x" }), "never"], () => ({
      tools: {
        slow: text((_, signal) => {
          state.started = true;
          return untilStopped(state, signal);
        })
      }
    }));
    await family.stub().startHelper(family.helper);
    await vi.waitUntil(() => state.started);
    await family.stub().stopHelper(family.helper);
    await vi.waitUntil(() => state.stopped);
    await vi.waitFor(async () => expect(await family.stub().outcomeOf(family.helper)).toBe("stopped"));
    expect(family.model.calls).toHaveLength(1);
  });
});

describe("as an agent tool", () => {
  it("a child uses the bridge, and the signal of the parent's run stops its call in the parent", async () => {
    const state = { started: false, stopped: false };
    const family = newFamily(
      [toolCall("read", { path: "/a.txt" }), toolCall("slow", { said: "x" }), "never"],
      (parent) => ({
        workspace: { files: () => parent.workspace },
        tools: {
          slow: text((_, signal) => {
            state.started = true;
            return untilStopped(state, signal);
          })
        }
      })
    );
    await family.write("/a.txt", "the content");
    await family.stub().startRun(family.helper);
    await vi.waitUntil(() => state.started);
    expect(told(family.model, 1)).toContain("the content");
    await family.stub().stopRun();
    await vi.waitUntil(() => state.stopped);
    await vi.waitFor(async () => expect(await family.stub().runStatus()).toBe("aborted"));
  });
});

describe("evictions", () => {
  it("between two calls are not noticed: of the parent, of both", async () => {
    // What other tests have left behind would be waited for by the eviction of all.
    await crashAll();
    const family = newFamily(
      [toolCall("read", { path: "/a.txt" }), "One.", toolCall("note", { said: "b" }), "Two."],
      (parent) => ({
        workspace: { files: () => parent.workspace },
        tools: { note: text(({ said }) => `noted ${said}`) }
      })
    );
    await family.write("/a.txt", "the content");
    expect(await family.ask()).toBe("said One.");
    expect(told(family.model, 1)).toContain("the content");
    await evict(family.stub());
    expect(await family.file("read", "/a.txt")).toBe("the content");
    await evictAll();
    expect(await family.ask()).toBe("said Two.");
    expect(told(family.model, 3)).toContain("noted b");
  });

  it("of the child during a call let the tool finish in the parent and leave the child usable", async () => {
    const state = { started: false, stopped: false };
    const family = newFamily([toolCall("slow", { said: "x" })], () => ({
      callTimeoutMs: 50,
      tools: {
        slow: text((_, signal) => {
          state.started = true;
          return untilStopped(state, signal);
        })
      }
    }));
    await family.stub().startHelper(family.helper);
    await vi.waitUntil(() => state.started);
    await family.stub().abortHelper(family.helper);
    await vi.waitUntil(() => state.stopped);
    // Only now: on a slow machine the call is over before the child is, and its turn asks the model once more.
    family.model.push("Back.");
    expect(await family.ask()).toBe("said Back.");
  });

  it("of the parent during a call take both down, and the next question is answered", async () => {
    const state = { started: false, stopped: false };
    const family = newFamily([toolCall("slow", { said: "x" }), "Back."], () => ({
      tools: {
        slow: text((_, signal) => {
          state.started = true;
          return untilStopped(state, signal);
        })
      }
    }));
    await family.stub().startHelper(family.helper);
    await vi.waitUntil(() => state.started);
    await crash(family.stub());
    expect(await family.ask()).toBe("said Back.");
  });
});

/** Runs until its signal fires; a tool that is well-behaved. */
function untilStopped(state: { stopped: boolean }, signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => {
      state.stopped = true;
      reject(new Error("stopped"));
    });
  });
}
