/** §9.1.2–3: MCP servers and their tools in a turn. */
import { env } from "cloudflare:workers";
import { runInAgent, toolCall, type ScriptedCall } from "@cloudflare/think/testing";
import { expect, it, vi } from "vitest";
import { newLoop } from "./loop-support";
import type { LoopTestAgent } from "./worker/loop-agents";
import type { LoopMcpServer } from "./worker/loop-mcp-server";
import { WORKSPACE_TOOLS } from "./workspace-names";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly LoopMcpServer: DurableObjectNamespace<LoopMcpServer>;
    }
  }
}

/** The method's types want the MCP SDK's own server class; the transport only needs its one method. */
const connectEcho = (agent: LoopTestAgent) => agent.addMcpServer("echo", env.LoopMcpServer as never);

const echoOf = (call: ScriptedCall) => call.toolNames.find((name) => name.endsWith("_echo")) ?? "missing";

it("§9.1.3 merges the tools of connected servers, and the gate and the hooks see their calls", async () => {
  const seen: unknown[] = [];
  const { client, model, stub } = await newLoop([(call) => toolCall(echoOf(call), { said: "hi" }), "done"], {
    afterToolCall: ({ toolName, success }) => void seen.push([toolName.endsWith("_echo"), success])
  });
  await runInAgent(stub(), async (agent) => void (await connectEcho(agent)));
  const { chunks } = await client.chat("Hi").done;
  expect(model.calls[0]?.toolNames).toHaveLength(WORKSPACE_TOOLS.length + 2);
  expect(JSON.stringify(chunks)).toContain("You said: hi");
  expect(seen).toEqual([[true, true]]);
});

it("§9.1.2 waits for pending servers only if asked to, within the limit", async () => {
  const waits: (number | undefined)[] = [];
  const { client, stub } = await newLoop(["1", "2", "3", "4"]);
  const set = (wait: boolean | { readonly timeout: number }) =>
    runInAgent(stub(), (agent) => void (agent.waitForMcpConnections = wait));
  await runInAgent(stub(), (agent) => {
    vi.spyOn(agent.mcp, "waitForConnections").mockImplementation(
      async (options) => void waits.push(options?.timeout)
    );
  });
  await set(true);
  await client.chat("no servers: nothing to wait for").done;
  expect(waits).toEqual([]);
  await runInAgent(stub(), async (agent) => void (await connectEcho(agent)));
  await client.chat("true").done;
  await set({ timeout: 50 });
  await client.chat("a timeout").done;
  await set(false);
  await client.chat("false").done;
  expect(waits).toEqual([10_000, 50]);
});

it("§9.1.2 does not keep a cancelled turn waiting", async () => {
  let isWaiting = false;
  const { client, model, stub } = await newLoop(["never"]);
  await runInAgent(stub(), async (agent) => {
    await connectEcho(agent);
    agent.waitForMcpConnections = true;
    vi.spyOn(agent.mcp, "waitForConnections").mockImplementation(() => {
      isWaiting = true;
      return new Promise(() => {});
    });
  });
  const turn = client.chat("Hi");
  await vi.waitUntil(() => isWaiting);
  turn.cancel();
  expect((await turn.done).frames.at(-1)).toMatchObject({ outcome: "aborted" });
  expect(model.calls).toHaveLength(0);
});
