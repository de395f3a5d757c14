/** The turn APIs (contract §8), the response hook (§9.8, §14 row 4) and overlapping submits (§3.3). */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  evict,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  text,
  toolCall,
  userMessage,
  type Script
} from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { failHydrationOnce, useTurnModel } from "./worker/turn-agents";

let counter = 0;

async function newAgent(script: Script) {
  const name = `api-${(counter += 1)}`;
  const model = scriptedModel(script);
  useTurnModel(name, model);
  const stub = env.TurnAgent.getByName(name);
  const connect = () => connectChat(exports.default, { agent: "TurnAgent", name });
  return { name, model, stub, connect };
}

const texts = (messages: readonly { readonly parts: readonly { readonly type: string }[] }[]) =>
  messages.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")).join(""));

describe("saveMessages()", () => {
  it("§9.8 can be awaited inside onChatResponse, and its own response is delivered next", async () => {
    const { stub } = await newAgent(["first", "second", "third"]);
    const statuses = await runInAgent(stub, async (agent) => {
      const results: string[] = [];
      agent.afterResponse = async ({ message }) => {
        if (texts([message])[0] === "third") return;
        results.push((await agent.saveMessages([userMessage("go on")])).status);
      };
      results.push((await agent.saveMessages([userMessage("start")])).status);
      return { results, hooks: texts(agent.responses.map(({ message }) => message)) };
    });
    expect(statuses).toEqual({
      results: ["completed", "completed", "completed"],
      hooks: ["first", "second", "third"]
    });
  });

  it("§9.8 survives a hook that throws", async () => {
    const { stub } = await newAgent(["one", "two"]);
    const statuses = await runInAgent(stub, async (agent) => {
      agent.afterResponse = () => {
        throw new Error("hook");
      };
      const first = await agent.saveMessages([userMessage("1")]);
      const second = await agent.saveMessages([userMessage("2")]);
      return [first.status, second.status, agent.responses.length];
    });
    expect(statuses).toEqual(["completed", "completed", 2]);
  });

  it("§8.3 gives the function form the conversation of the moment it runs, and ignores known ids", async () => {
    const { stub } = await newAgent(["one", "two"]);
    await runInAgent(stub, async (agent) => {
      const first = agent.saveMessages([userMessage("1", "a")]);
      const second = agent.saveMessages((current) => [
        ...current,
        userMessage(`after ${current.length}`, "b")
      ]);
      await Promise.all([first, second]);
    });
    expect(texts(await stub.getMessages())).toEqual(["1", "one", "after 2", "two"]);
  });

  it("§8.3 with an aborted signal stores the message, asks no model and leaves nothing behind (traps 13, 14)", async () => {
    const { stub, model } = await newAgent(["never"]);
    const result = await runInAgent(stub, (agent) =>
      agent.saveMessages([userMessage("Hi")], { signal: AbortSignal.abort() })
    );
    expect(result).toEqual({ requestId: expect.stringMatching(/.+/), status: "aborted" });
    expect(model.calls).toHaveLength(0);
    expect(texts(await stub.getMessages())).toEqual(["Hi"]);
  });

  it("§8.3 does not change its mind when the signal fires after the end", async () => {
    const { stub } = await newAgent(["fine"]);
    const result = await runInAgent(stub, async (agent) => {
      const controller = new AbortController();
      const done = await agent.saveMessages([userMessage("Hi")], { signal: controller.signal });
      controller.abort();
      return done;
    });
    expect(result.status).toBe("completed");
  });

  it("§8.3 stops in mid-stream with its signal and keeps what was said", async () => {
    const { stub, connect } = await newAgent([[text("Half"), hang()]]);
    const client = await connect();
    let stop = () => {};
    const running = runInAgent(stub, (agent) => {
      const controller = new AbortController();
      stop = () => controller.abort();
      return agent.saveMessages([userMessage("Hi")], { signal: controller.signal });
    });
    await client.waitFor((frame) => frame.body?.includes("Half") === true);
    // Inside the object: a signal belongs to the object that made it.
    await runInAgent(stub, () => stop());
    expect((await running).status).toBe("aborted");
    expect(texts(await stub.getMessages())).toEqual(["Hi", "Half"]);
  });

  it("§1.5 shows connected clients the message, the stream and its end", async () => {
    const { stub, connect } = await newAgent(["Hello"]);
    const client = await connect();
    const { requestId } = await runInAgent(stub, (agent) => agent.saveMessages([userMessage("Hi")]));
    expect((await client.follow(requestId).done).text).toBe("Hello");
    expect(texts(client.messages)).toEqual(["Hi"]);
  });
});

describe("chat()", () => {
  it("§8.1 keeps the first content of an id that is sent twice (trap 15)", async () => {
    const { stub } = await newAgent(["one", "two"]);
    await runInAgent(stub, async (agent) => {
      const silent = { onStart() {}, onEvent() {}, onDone() {}, onError() {} };
      await agent.chat(userMessage("first", "same"), silent);
      await agent.chat(userMessage("second", "same"), silent);
    });
    expect(texts(await stub.getMessages())).toEqual(["first", "one", "two"]);
  });

  it("§8.1 tolerates a callback with missing members", async () => {
    const { stub } = await newAgent(["one"]);
    await runInAgent(stub, (agent) => agent.chat("Hi", {}));
    expect(texts(await stub.getMessages())).toEqual(["Hi", "one"]);
  });

  it("§5.6 rejects with what onError throws, after exactly one hook (trap 11)", async () => {
    const { stub } = await newAgent([[text("x"), { type: "error", error: new Error("boom") }]]);
    const seen = await runInAgent(stub, async (agent) => {
      const told: string[] = [];
      const failing = {
        onStart() {},
        onEvent() {},
        onDone() {},
        onError: (error: string) => {
          told.push(error);
          throw new Error("callback broke");
        }
      };
      const rejection = await agent.chat("Hi", failing).then(
        () => "resolved",
        (error: Error) => error.message
      );
      return { told, rejection, hooks: agent.responses.length };
    });
    expect(seen).toEqual({ told: ["boom"], rejection: "callback broke", hooks: 1 });
  });

  it("goes on for everybody else when the caller's callback fails, and rejects with that failure", async () => {
    const { stub } = await newAgent([text(["a", "b", "c"])]);
    const rejection = await runInAgent(stub, (agent) =>
      agent
        .chat("Hi", {
          onStart() {},
          onEvent: async () => Promise.reject(new Error("gone")),
          onDone() {},
          onError() {}
        })
        .then(
          () => "resolved",
          (error: Error) => error.message
        )
    );
    expect(rejection).toBe("gone");
    expect(texts(await stub.getMessages())).toEqual(["Hi", "abc"]);
  });

  it("§8.2 is stopped by cancelChat with the id that onStart gave", async () => {
    const { stub, connect } = await newAgent([[text("Half"), hang()]]);
    const client = await connect();
    let id = "";
    const running = runInAgent(stub, (agent) =>
      agent.recordChat("Hi", { onStart: (requestId) => (id = requestId) })
    );
    await client.waitFor((frame) => frame.body?.includes("Half") === true);
    await stub.cancelChat(id);
    expect(await running).toEqual(["start", "event"]);
  });

  it("waits for a slow caller instead of buffering without bound", async () => {
    const { stub } = await newAgent([text(Array.from({ length: 500 }, () => "x"))]);
    const most = await runInAgent(stub, async (agent) => {
      let open = 0;
      let peak = 0;
      const hasPiledUp = () => peak > 10;
      const slow = async () => {
        peak = Math.max(peak, (open += 1));
        // As slow as it takes, so that events pile up on a slow machine too.
        do await new Promise((resolve) => setTimeout(resolve, 1));
        while (!hasPiledUp());
        open -= 1;
      };
      await agent.chat("Hi", { onStart() {}, onEvent: slow, onDone() {}, onError() {} });
      return peak;
    });
    expect(most).toBeGreaterThan(10);
    expect(most).toBeLessThanOrEqual(66);
  });
});

describe("continueLastTurn()", () => {
  it("§8.4 is skipped when there is no answer to continue", async () => {
    const { stub } = await newAgent([]);
    expect(await runInAgent(stub, (agent) => agent.continueNow())).toEqual({
      requestId: "",
      status: "skipped"
    });
  });

  it("§8.4 makes a new assistant message, flags its frames and the hook, and sends the list at the end", async () => {
    const { stub, connect } = await newAgent(["one", "two"]);
    const client = await connect();
    await client.chat("Hi").done;
    const { requestId } = await runInAgent(stub, (agent) => agent.continueNow());
    const turn = await client.follow(requestId).done;
    expect(turn.frames.every((frame) => frame.continuation)).toBe(true);
    await client.waitFor((frame) => frame.type === "cf_agent_chat_messages" && frame.messages?.length === 3);
    expect(texts(await stub.getMessages())).toEqual(["Hi", "one", "two"]);
    expect(
      await runInAgent(stub, (agent) => agent.responses.map(({ continuation }) => continuation))
    ).toEqual([false, true]);
  });
});

describe("the conversation", () => {
  it("§6.5 is not changed by whoever changes a copy of it (trap 16)", async () => {
    const { stub } = await newAgent(["one"]);
    const lengths = await runInAgent(stub, async (agent) => {
      await agent.saveMessages([userMessage("Hi")]);
      const copy = await agent.getMessages();
      copy.pop();
      const [first] = copy;
      if (first) first.parts = [];
      return [agent.messages.length, agent.messages[0]?.parts.length];
    });
    expect(lengths).toEqual([2, 1]);
  });

  it("§8.5 takes messages without a turn, once each, and tells idle clients", async () => {
    const { stub, connect, model } = await newAgent([]);
    const client = await connect();
    await stub.addMessages([userMessage("note", "n")]);
    await stub.addMessages([userMessage("changed", "n")]);
    await client.waitFor((frame) => frame.type === "cf_agent_chat_messages" && frame.messages?.length === 1);
    expect(texts(await stub.getMessages())).toEqual(["note"]);
    expect(model.calls).toHaveLength(0);
  });

  it("§11 keeps configure() across an eviction and gives null before", async () => {
    const { stub } = await newAgent([]);
    expect(await runInAgent(stub, (agent) => agent.getConfig())).toBeNull();
    await runInAgent(stub, (agent) => agent.configure({ tier: "fast" }));
    await evict(stub);
    expect(await runInAgent(stub, (agent) => agent.getConfig())).toEqual({ tier: "fast" });
  });
});

describe("overlapping submits (§3.3)", () => {
  async function overlapping(
    policy: "queue" | "latest" | "merge" | "drop" | { strategy: "debounce"; debounceMs: number }
  ) {
    const hold = gate();
    const agent = await newAgent([[hold, "one"], "two", "three"]);
    const client = await agent.connect();
    await runInAgent(agent.stub, (instance) => {
      instance.messageConcurrency = policy;
    });
    const first = client.chat("1");
    await first.waitForChunk("start");
    const rest = [client.chat("2"), client.chat("3")];
    await client.resume({ probeId: "all submits arrived" });
    return { ...agent, client, hold, first, rest };
  }

  const outcomes = async (
    turns: readonly {
      readonly done: Promise<{ readonly frames: readonly { readonly outcome?: unknown }[] }>;
    }[]
  ) => Promise.all(turns.map(async ({ done }) => (await done).frames.at(-1)?.outcome));

  it("queue: each gets its own turn", async () => {
    const { hold, first, rest, stub } = await overlapping("queue");
    hold.open();
    expect(await outcomes([first, ...rest])).toEqual(["completed", "completed", "completed"]);
    expect(texts(await stub.getMessages()).toSorted()).toEqual(["1", "2", "3", "one", "three", "two"]);
  });

  it.each(["latest", "merge", { strategy: "debounce", debounceMs: 20 }] as const)(
    "%j: all messages stay, the newest submit answers them (trap 33)",
    async (policy) => {
      const { hold, first, rest, stub, model } = await overlapping(policy);
      hold.open();
      expect(await outcomes([first, ...rest])).toEqual(["completed", "skipped", "completed"]);
      expect(texts(await stub.getMessages())).toEqual(expect.arrayContaining(["1", "2", "3", "one", "two"]));
      expect(model.calls).toHaveLength(2);
    }
  );

  it("drop: the overlapping submit is taken back and ends at once (trap 32)", async () => {
    const { hold, first, rest, stub, client, model } = await overlapping("drop");
    expect(await outcomes(rest)).toEqual(["skipped", "skipped"]);
    expect(texts(client.messages)).toEqual(["1"]);
    hold.open();
    await first.done;
    expect(texts(await stub.getMessages())).toEqual(["1", "one"]);
    expect(model.calls).toHaveLength(1);
    expect(await runInAgent(stub, (agent) => agent.responses.length)).toBe(1);
  });

  it("drop: a regeneration is not dropped, and after a clear nothing overlaps", async () => {
    const { hold, first, client, stub } = await overlapping("drop");
    const again = client.chat([userMessage("1")], { trigger: "regenerate-message" });
    hold.open();
    await first.done;
    expect((await again.done).frames.at(-1)?.outcome).toBe("completed");
    await stub.clearMessages();
    expect((await client.chat("fresh").done).frames.at(-1)?.outcome).toBe("completed");
  });

  it("a clear wakes a debounce that waits", async () => {
    const { hold, first, rest, stub } = await overlapping({ strategy: "debounce", debounceMs: 60_000 });
    hold.open();
    await first.done;
    await stub.clearMessages();
    expect(await outcomes(rest)).toEqual(["skipped", "skipped"]);
    expect(await stub.getMessages()).toEqual([]);
  });
});

describe("observability (§12)", () => {
  it("emits what failed, where, and whether the messages are stored", async () => {
    const { stub, connect } = await newAgent([[{ type: "error", error: new Error("boom") }]]);
    const client = await connect();
    await client.chat("Hi").done;
    const events = await runInAgent(stub, (agent) =>
      agent.events.filter(({ type }) => type.startsWith("chat:") || type.startsWith("message:"))
    );
    expect(events).toContainEqual({
      type: "chat:request:failed",
      payload: { requestId: expect.any(String), stage: "stream", messagesPersisted: true, error: "boom" }
    });
    expect(events).toContainEqual({ type: "message:error", payload: { error: "boom" } });
  });

  it("reports a request that cannot be parsed, and answers it", async () => {
    const { stub, connect } = await newAgent([]);
    const client = await connect();
    client.send({ type: "cf_agent_use_chat_request", id: "bad", init: { method: "POST", body: "{" } });
    expect((await client.follow("bad").done).error).toContain("not valid JSON");
    const errors = await runInAgent(stub, (agent) => agent.errors.map(({ context }) => context));
    expect(errors).toEqual([{ requestId: "bad", stage: "parse", messagesPersisted: false }]);
  });
});

it("runs tools in programmatic turns like in any other", async () => {
  const { stub } = await newAgent([toolCall("missing", {}), "sorry"]);
  const { status } = await runInAgent(stub, (agent) => agent.saveMessages([userMessage("Hi")]));
  expect(status).toBe("completed");
});

describe("start-up (§11)", () => {
  it("comes up without the history when it cannot be read, says so, and has it back as soon as it can", async () => {
    const { stub, connect, name } = await newAgent(["one", "two"]);
    await (await connect()).chat("Hi").done;
    failHydrationOnce(name);
    await evict(stub);
    const client = await connect();
    const degradations = await runInAgent(stub, (agent) => ({
      steps: agent.getOnStartDegradations().map(({ step }) => step),
      events: agent.events
        .filter(({ type }) => type === "chat:onstart:degraded")
        .map(({ payload }) => payload)
    }));
    expect(degradations).toEqual({
      steps: ["transcript-hydration"],
      events: [{ step: "transcript-hydration", error: "storage is not ready" }]
    });
    expect((await client.chat("Again").done).text).toBe("two");
    expect(texts(await runInAgent(stub, (agent) => agent.getMessages()))).toEqual([
      "Hi",
      "one",
      "Again",
      "two"
    ]);
  });
});

it.each([
  ["a text", "Hello"],
  ["a message without parts", [{ id: "1", role: "user" }]],
  ["a message with an unknown role", [{ id: "1", role: "root", parts: [] }]]
])("saveMessages() says what it expects when it is given %s, and stores nothing", async (_name, input) => {
  const { stub, model } = await newAgent(["never"]);
  const told = await runInAgent(stub, (agent) =>
    agent.saveMessages(input as never).then(
      () => "resolved",
      (error: Error) => error.message
    )
  );
  expect(told).toMatch(/^These are not messages: .*Expected a list of messages like/);
  expect(model.calls).toHaveLength(0);
  expect(await runInAgent(stub, (agent) => agent.messages.length)).toBe(0);
});
