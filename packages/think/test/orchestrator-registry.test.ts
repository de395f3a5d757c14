/**
 * The registry of children and the gate for clients (seed 003, "Agent registry" and "Connection routing"; `design/orchestrator.md`,
 * invariants 8 and 9).
 */
import { exports } from "cloudflare:workers";
import { AgentRegistry } from "@cloudflare/think/orchestrator";
import {
  connectChat,
  crash,
  crashAll,
  evict,
  evictAll,
  runInAgent,
  scriptedModel
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { newFamily } from "./orchestrator-support";
import { Helper, useHelperModel, type Orchestrator } from "./worker/orchestrator-agents";

let counter = 0;
const fresh = () => `child-${(counter += 1)}`;

describe("the registry", () => {
  it("keeps children with title, status and message count, newest first, also through an eviction", async () => {
    const { stub } = newFamily([]);
    await runInAgent(stub(), (agent) => {
      vi.spyOn(Date, "now").mockReturnValueOnce(1000).mockReturnValueOnce(2000).mockReturnValueOnce(3000);
      agent.registry.register(Helper, { name: "a", title: "First", metadata: { color: "red" } });
      agent.registry.register(Helper, { name: "b" });
      agent.registry.update(Helper, "a", { status: "running", messageCount: 4 });
      vi.restoreAllMocks();
    });
    await evict(stub());
    const [all, running, paged] = await runInAgent(stub(), ({ registry }: Orchestrator) => [
      registry.list(),
      registry.list({ status: "running", className: "Helper" }),
      registry.list({ limit: 1, offset: 1 })
    ]);
    expect(all).toEqual([
      expect.objectContaining({ name: "b", title: "b", status: "idle", messageCount: 0, createdAt: 2000 }),
      {
        ...{ className: "Helper", name: "a", title: "First", status: "running", messageCount: 4 },
        ...{ metadata: { color: "red" }, createdAt: 1000, updatedAt: 3000 }
      }
    ]);
    expect(running?.map(({ name }) => name)).toEqual(["a"]);
    expect(paged?.map(({ name }) => name)).toEqual(["a"]);
  });

  it("registers a name once, gives one when none is given, and opens only what it knows", async () => {
    const { stub } = newFamily([]);
    await runInAgent(stub(), async ({ registry }: Orchestrator) => {
      const first = registry.register(Helper, { name: "a", title: "First" });
      expect(registry.register(Helper, { name: "a", title: "Second" })).toEqual(first);
      expect(registry.register(Helper).name).toMatch(/^[0-9a-f-]{36}$/);
      await expect(registry.open(Helper, "b")).rejects.toMatchObject({ code: "agent-unknown" });
      expect(() => registry.update(Helper, "b", { status: "idle" })).toThrow("Call register() first");
      expect(await registry.delete(Helper, "b")).toBe(false);
    });
  });

  it("refuses names, titles and labels that are none", async () => {
    const { stub } = newFamily([]);
    await runInAgent(stub(), ({ registry }: Orchestrator) => {
      for (const name of ["", "a\0b", "\ud800", "x".repeat(257)]) {
        expect(() => registry.register(Helper, { name })).toThrow("A child's name");
        expect(registry.get(Helper, name)).toBeUndefined();
        expect(registry.admits({ className: "Helper", name })).toBe(false);
      }
      const odd = registry.register(Helper, { name: "__proto__' OR 1=1 --" });
      expect(registry.get("Helper", odd.name)).toEqual(odd);
      expect(() => registry.register(Helper, { title: "x".repeat(201) })).toThrow("A title");
      expect(() => registry.register(Helper, { metadata: { a: "x".repeat(16_000) } })).toThrow("Metadata");
      expect(() => registry.update(Helper, odd.name, { messageCount: -1 })).toThrow("message count");
      // A status may come from a client; this one would be the mark of a deletion.
      const status = "deleting" as "idle";
      expect(() => registry.update(Helper, odd.name, { status })).toThrow("A status is one of idle");
      expect(() => registry.register(Helper, { status })).toThrow("A status is one of idle");
      expect(registry.list({ limit: Number.NaN })).toEqual([]);
      expect(registry.list()).toHaveLength(1);
    });
  });

  it("deletes a child with its storage, closes its sockets, and finishes a deletion that a crash cut off", async () => {
    const { parent, stub } = newFamily([]);
    const name = fresh();
    useHelperModel(name, scriptedModel(["remembered", "forgotten"]));
    await stub().spawn(name, "Short-lived");
    const client = await connectChat(exports.default, {
      ...{ agent: "Orchestrator", name: parent },
      sub: [{ agent: "Helper", name }]
    });
    await client.chat("Hi").done.catch(() => undefined);
    await runInAgent(stub(), async (agent) => {
      vi.spyOn(agent.dynamicAgents, "delete").mockRejectedValueOnce(new Error("crashed"));
      await expect(agent.removeHelper(name)).rejects.toThrow("crashed");
    });
    await crash(stub());
    await runInAgent(stub(), async (agent) => {
      expect(agent.registry.get(Helper, name)).toBeUndefined();
      expect(agent.registry.admits({ className: "Helper", name })).toBe(false);
      expect(() => agent.registry.register(Helper, { name })).toThrow("is being deleted");
    });
    expect(await stub().removeHelper(name)).toBe(true);
    await runInAgent(stub(), (agent) => expect(agent.dynamicAgents.has(Helper, name)).toBe(false));
    expect(await stub().removeHelper(name)).toBe(false);
  });
});

describe("a client that wants to reach a child", () => {
  const address = (parent: string, child: string, agent = "Helper") => ({
    ...{ agent: "Orchestrator", name: parent },
    sub: [{ agent, name: child }]
  });

  it("chats with a registered one through the parent, before and after an eviction", async () => {
    // What other tests have left behind would be waited for by the eviction of all.
    await crashAll();
    const { parent, stub } = newFamily([]);
    const name = fresh();
    useHelperModel(name, scriptedModel(["one", "two"]));
    await stub().spawn(name, "Known");
    const client = await connectChat(exports.default, address(parent, name));
    expect((await client.chat("Hi").done).text).toBe("one");
    await evictAll();
    expect((await client.chat("Again").done).text).toBe("two");
    expect((await client.history()).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant"
    ]);
  });

  it("is refused for a child, a class or a name that the registry does not know, and nothing is made", async () => {
    const { parent, stub } = newFamily([]);
    const known = fresh();
    await stub().spawn(known, "Known");
    for (const [agent, name] of [
      ["Helper", "stranger"],
      ["Assistant", known],
      ["Orchestrator", parent],
      ["Helper", "x".repeat(300)],
      ["Helper", `${known} `],
      ["Helper", "__proto__"]
    ] as const) {
      const client = await connectChat(exports.default, address(parent, name, agent));
      expect((await client.closed).code, `${agent} ${name}`).toBe(4404);
      const path = `http://test/agents/orchestrator/${parent}/sub/${agent.toLowerCase()}/${encodeURIComponent(name)}/get-messages`;
      expect((await exports.default.fetch(path)).status).toBe(404);
    }
    const made = await runInAgent(stub(), (agent) => agent.dynamicAgents.list().map((child) => child.name));
    expect(made).toEqual([known]);
  });

  it("reaches the agent-tool runs of this parent as long as they are retained, unless that is switched off", async () => {
    const { parent, helper, stub } = newFamily(["done", "asked"]);
    await stub().startRun(helper);
    await vi.waitFor(async () => expect(await stub().runStatus()).toBe("completed"));
    const client = await connectChat(exports.default, address(parent, helper));
    expect((await client.chat("And?").done).text).toBe("asked");
    await runInAgent(stub(), async (agent) => {
      const child = { className: "Helper", name: helper };
      expect(new AgentRegistry(agent, { agentToolRuns: false }).admits(child)).toBe(false);
      await agent.clearAgentToolRuns();
      expect(agent.registry.admits(child)).toBe(false);
    });
    const again = await connectChat(exports.default, address(parent, helper));
    expect((await again.closed).code).toBe(4404);
  });

  it("is cut off when the child is deleted, and cannot bring it back", async () => {
    const { parent, stub } = newFamily([]);
    const name = fresh();
    useHelperModel(name, scriptedModel(["one", "two"]));
    await stub().spawn(name, "Known");
    const client = await connectChat(exports.default, address(parent, name));
    await client.chat("Hi").done;
    expect(await stub().removeHelper(name)).toBe(true);
    expect((await client.closed).code).toBeGreaterThanOrEqual(1000);
    const again = await connectChat(exports.default, address(parent, name));
    expect((await again.closed).code).toBe(4404);
    await runInAgent(stub(), (agent) => expect(agent.dynamicAgents.has(Helper, name)).toBe(false));
  });
});
