import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  connectChat,
  crash,
  crashAll,
  evict,
  evictAll,
  fakeClock,
  fireAlarm,
  hang,
  runInAgent,
  scriptedModel
} from "@cloudflare/think/testing";

const stub = (name: string) => env.TestingChat.getByName(name);

/** Leaves a mark in memory and one in storage. */
async function mark(name: string) {
  await runInAgent(stub(name), (agent, { storage }) => {
    agent.mark = "in memory";
    storage.kv.put("mark", "in storage");
  });
}

async function marks(name: string) {
  return runInAgent(stub(name), (agent, { storage }) => ({
    memory: agent.mark,
    storage: storage.kv.get("mark")
  }));
}

describe("evict", () => {
  it("takes the object out of memory, keeps its storage and its sockets", async () => {
    await mark("evict");
    const client = await connectChat(exports.default, { agent: "TestingChat", name: "evict" });
    await evict(stub("evict"));
    expect(await marks("evict")).toEqual({ memory: undefined, storage: "in storage" });
    expect((await client.chat("still there?").done).text).toBe("Hello!");
    await client.close();
  });

  it("closes the sockets when told to", async () => {
    const client = await connectChat(exports.default, { agent: "TestingChat", name: "evict-close" });
    await evict(stub("evict-close"), { webSockets: "close" });
    expect(await client.closed).toMatchObject({ code: 1006 });
  });

  it("takes all objects when asked for all", async () => {
    // Files share the runtime, and an eviction waits for work that another file has left behind.
    await crashAll();
    await mark("all-one");
    await mark("all-two");
    await evictAll();
    expect([await marks("all-one"), await marks("all-two")]).toEqual([
      { memory: undefined, storage: "in storage" },
      { memory: undefined, storage: "in storage" }
    ]);
  });
});

describe("crash", () => {
  it("kills an object in the middle of its work and keeps its storage", async () => {
    await mark("crash");
    await mark("bystander");
    const model = scriptedModel([["some", hang()]]);
    await runInAgent(stub("crash"), (agent) => {
      agent.model = model;
    });
    const client = await connectChat(exports.default, { agent: "TestingChat", name: "crash" });
    const turn = client.chat("go");
    await turn.waitForText("some");
    await crash(stub("crash"));
    await client.closed;
    await expect(turn.done).rejects.toThrow("The socket was closed");
    expect(await marks("crash")).toEqual({ memory: undefined, storage: "in storage" });
    expect(await marks("bystander")).toEqual({ memory: "in memory", storage: "in storage" });
  });

  it("kills all objects when asked for all", async () => {
    await mark("bystander");
    await crashAll();
    expect(await marks("bystander")).toEqual({ memory: undefined, storage: "in storage" });
  });
});

describe("fireAlarm", () => {
  it("runs a job that is due and says whether there was an alarm", async () => {
    expect(await fireAlarm(stub("alarm"))).toBe(false);
    await runInAgent(stub("alarm"), async (agent, { storage }) => {
      await agent.schedule(new Date(Date.now() - 1000), "leaveMark", "by alarm");
      await storage.sync();
    });
    // The alarm may also have fired on its own by now; either way the job has run afterwards.
    await fireAlarm(stub("alarm"));
    expect((await marks("alarm")).memory).toBe("by alarm");
  });
});

describe("a fake clock inside an agent", () => {
  it("fires the agent's timers when it is advanced there", async () => {
    const clock = fakeClock();
    await runInAgent(stub("clock"), (agent) => {
      clock.setTimer(() => agent.addNote("timer"), 1000);
    });
    const notes = await runInAgent(stub("clock"), async (agent) => {
      await clock.advance(1000);
      return agent.countNotes();
    });
    expect(notes).toBe(1);
  });
});
