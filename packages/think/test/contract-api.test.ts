/** §6–§13 of the contract, as an author of an agent and its clients see them: the facts that no other file proves. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  evict,
  hang,
  runInAgent,
  streamError,
  text,
  toolCall,
  userMessage
} from "@cloudflare/think/testing";
import type { UIMessage } from "ai";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newAgent, recorder, texts } from "./contract-api-support";
import { WORKSPACE_TOOLS } from "./workspace-names";

const answer = (id: string, parts: readonly Record<string, unknown>[]): UIMessage => ({
  id,
  role: "assistant",
  parts: parts as UIMessage["parts"]
});

afterEach(() => void vi.restoreAllMocks());

describe("§6.1, §6.5 the conversation in the author's hands (trap 16)", () => {
  it("takes, changes and re-reads messages; memory and storage stay the same", async () => {
    const { stub } = await newAgent([]);
    const seen = await runInAgent(stub(), async (agent) => {
      const dirty = { type: "reasoning", text: " ", providerMetadata: { openai: { itemId: "i" } } } as const;
      const kept = await agent.keep({
        ...userMessage("one", "a"),
        parts: [dirty, { type: "text", text: "one" }]
      });
      const again = await agent.keep(userMessage("other", "a"));
      await agent.change(userMessage("nobody", "unknown"));
      const changed = await agent.change(userMessage("two", "a"));
      await agent.keep(userMessage("branch", "b"), null);
      const copy = await agent.sync();
      copy.pop();
      return { kept: texts([kept, again, changed]), parts: kept.parts.length, now: texts(agent.messages) };
    });
    expect(seen).toEqual({ kept: ["one", "one", "two"], parts: 1, now: ["branch"] });
  });

  it("shows what storage holds after a sync, however it came there", async () => {
    const { stub } = await newAgent([]);
    const seen = await runInAgent(stub(), async (agent, state) => {
      await agent.addMessages([userMessage("one", "a")]);
      const changed = JSON.stringify(userMessage("changed behind the back", "a"));
      state.storage.sql.exec("UPDATE assistant_messages SET content = ?", changed);
      return [texts(agent.messages), texts(await agent.sync()), texts(agent.messages)];
    });
    expect(seen).toEqual([["one"], ["changed behind the back"], ["changed behind the back"]]);
  });
});

describe("§6.6, §6.7 large conversations (trap 40)", () => {
  it("come up as a suffix, which is an event and a warning but no degradation, and chat goes on", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
    const { stub, client } = await newAgent(["fine"]);
    const seen = await runInAgent(stub(), async (agent) => {
      const long = Array.from({ length: 12 }, (_, index) => userMessage("x".repeat(1_000), `m${index}`));
      await agent.addMessages(long);
      agent.hydrationByteBudget = 2_000;
      await agent.sync();
      await agent.sync();
      return {
        inMemory: agent.messages.map(({ id }) => id),
        degradations: agent.getOnStartDegradations(),
        events: agent.events.filter(({ type }) => type === "chat:hydration:windowed")
      };
    });
    expect(seen.inMemory).toEqual(["m8", "m9", "m10", "m11"]);
    expect(seen.degradations).toEqual([]);
    expect(seen.events).toEqual([
      {
        type: "chat:hydration:windowed",
        payload: { totalContentBytes: expect.any(Number), budgetBytes: 2_000, hydratedMessages: 4 }
      }
    ]);
    expect(
      warn.mock.calls.flat().filter((line) => String(line).includes("hydrationByteBudget"))
    ).toHaveLength(1);
    expect((await client.chat("Hi").done).text).toBe("fine");
  });

  it("lose aged media in the background, without a frame to anybody", async () => {
    const { stub, client } = await newAgent([]);
    const picture = {
      type: "file",
      mediaType: "image/png",
      url: `data:image/png;base64,${"A".repeat(40_000)}`
    } as const;
    await runInAgent(stub(), (agent) => {
      agent.mediaEviction = { keepRecentMessages: 0, externalizeToWorkspace: false };
    });
    const pictures = Array.from({ length: 5 }, (_, index) => ({
      ...userMessage("", `p${index}`),
      parts: [picture]
    }));
    await stub().addMessages(pictures);
    await vi.waitFor(async () => {
      const kinds = await runInAgent(stub(), (agent) => agent.messages.map(({ parts }) => parts[0]?.type));
      expect(kinds).toEqual(["text", "file", "file", "file", "file"]);
    });
    const events = await runInAgent(stub(), (agent) =>
      agent.events.filter(({ type }) => type === "chat:media:evicted")
    );
    expect(events.map(({ payload }) => payload)).toEqual([
      { messages: 1, parts: 1, bytes: picture.url.length, externalizedBytes: 0 }
    ]);
    await client.resume({ probeId: "later" });
    expect(client.frames.filter(({ type }) => type === "cf_agent_chat_messages")).toHaveLength(2);
    expect(client.frames.some(({ type }) => type === "cf_agent_message_updated")).toBe(false);
  });
});

describe("§6.8, §6.9 starting over", () => {
  it("a regeneration fires the response hook like any turn (trap 34)", async () => {
    const { stub, client } = await newAgent(["one", "two"]);
    const question = userMessage("Hi");
    await client.chat([question]).done;
    await client.chat([question], { trigger: "regenerate-message" }).done;
    const hooks = await runInAgent(stub(), (agent) =>
      agent.responses.map(({ message, status, continuation }) => [texts([message])[0], status, continuation])
    );
    expect(hooks).toEqual([
      ["one", "completed", false],
      ["two", "completed", false]
    ]);
  });

  it("clearMessages() tells everyone and keeps what is known of the client; a client's clear forgets it (trap 31)", async () => {
    const { stub, client, connect, model } = await newAgent(["1", "2", "3"]);
    const bodies: unknown[] = [];
    await runInAgent(stub(), (agent) => {
      agent.beforeTurn = ({ body }) => void bodies.push(body);
    });
    const other = await connect();
    await client.chat("Hi", { clientTools: [{ name: "ask" }], body: { page: 1 } }).done;
    await stub().clearMessages();
    await Promise.all([client.waitFor("cf_agent_chat_clear"), other.waitFor("cf_agent_chat_clear")]);
    await runInAgent(stub(), (agent) => agent.saveMessages([userMessage("again")]));
    other.clear();
    await client.waitFor("cf_agent_chat_clear", { from: client.frames.length });
    await runInAgent(stub(), (agent) => agent.saveMessages([userMessage("once more")]));
    expect(model.calls.map(({ toolNames }) => toolNames.includes("ask"))).toEqual([true, true, false]);
    expect(bodies).toEqual([{ page: 1 }, { page: 1 }, undefined]);
    expect(other.frames.filter(({ type }) => type === "cf_agent_chat_clear")).toHaveLength(1);
  });

  it.each(["latest", "merge"] as const)(
    "a clear under %s leaves no message of what waited (trap 33)",
    async (policy) => {
      const { stub, client, model } = await newAgent([hang(), "never"]);
      await runInAgent(stub(), (agent) => {
        agent.messageConcurrency = policy;
      });
      const first = client.chat("1");
      await first.waitForChunk("start");
      const rest = [client.chat("2"), client.chat("3")];
      await client.resume({ probeId: "arrived" });
      await stub().clearMessages();
      expect((await first.done).frames.at(-1)?.outcome).toBe("aborted");
      for (const turn of rest) expect((await turn.done).frames.at(-1)?.outcome).toBe("skipped");
      expect(await stub().getMessages()).toEqual([]);
      expect(model.calls).toHaveLength(1);
    }
  );
});

describe("§8 turns that code asks for", () => {
  it("§8.1 chat() brings no fields of a browser's request, and warns of tools it does not take", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
    const { stub, client, model } = await newAgent(["one", "two"]);
    const bodies: unknown[] = [];
    await runInAgent(stub(), (agent) => {
      agent.beforeTurn = ({ body, continuation }) => void bodies.push([body, continuation]);
    });
    await client.chat("Hi", { body: { page: 1 }, clientTools: [{ name: "ask" }] }).done;
    const calls = await runInAgent(stub(), async (agent) => {
      const callback = recorder();
      await agent.chat("Go", callback, { tools: { extra: {} } } as never);
      await agent.chat("Go", recorder(), { tools: {} } as never).catch(() => undefined);
      return callback.calls;
    });
    expect(calls).toEqual(["start", "event", "done"]);
    expect(bodies.slice(0, 2)).toEqual([
      [{ page: 1 }, false],
      [undefined, false]
    ]);
    expect(model.calls[1]?.toolNames).toEqual([...WORKSPACE_TOOLS]);
    const warnings = warn.mock.calls.filter(([line]) =>
      String(line).includes("chat() no longer accepts options.tools")
    );
    expect(warnings).toHaveLength(1);
  });

  it("§8.2 every way to stop stops, and stopping nothing is no error", async () => {
    const { stub, client } = await newAgent([
      [text("1"), hang()],
      [text("2"), hang()],
      [text("3"), hang()],
      "4"
    ]);
    await runInAgent(stub(), async (agent) => {
      agent.stop("nobody");
      agent.stopAll();
      await agent.cancelChat("nobody", "why not");
      await agent.cancelAllChats();
    });
    const stops = [
      (id: string) => runInAgent(stub(), (agent) => agent.stop(id)),
      () => runInAgent(stub(), (agent) => agent.stopAll()),
      () => stub().cancelAllChats()
    ];
    for (const [index, stop] of stops.entries()) {
      const turn = client.chat(`question ${index}`);
      await turn.waitForText(String(index + 1));
      const queued = client.chat(`queued ${index}`);
      await client.resume({ probeId: `arrived ${index}` });
      if (index === 0) queued.cancel();
      await stop(turn.id);
      expect((await turn.done).frames.at(-1)?.outcome).toBe("aborted");
      expect((await queued.done).frames.at(-1)?.outcome).toBe("aborted");
    }
    expect((await client.chat("last").done).text).toBe("4");
  });

  it("§8.3 saveMessages() uses the stored tools and fields of its call, and is not subject to messageConcurrency", async () => {
    const { stub, client, model } = await newAgent(["one", "two", "three"]);
    const bodies: unknown[] = [];
    await runInAgent(stub(), (agent) => {
      agent.messageConcurrency = "drop";
      agent.beforeTurn = ({ body }) => void bodies.push(body);
    });
    await client.chat("Hi", { clientTools: [{ name: "ask" }], body: { page: 1 } }).done;
    const results = await runInAgent(stub(), (agent) =>
      Promise.all([agent.saveMessages([userMessage("2")]), agent.saveMessages([userMessage("3")])])
    );
    expect(results.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(new Set(results.map(({ requestId }) => requestId)).size).toBe(2);
    const tools = [...WORKSPACE_TOOLS, "ask"];
    expect(model.calls.map(({ toolNames }) => toolNames)).toEqual([tools, tools, tools]);
    expect(bodies).toEqual([{ page: 1 }, { page: 1 }, { page: 1 }]);
    expect(texts(await stub().getMessages())).toEqual(["Hi", "one", "2", "two", "3", "three"]);
  });

  it("§8.3 a clear while the function form thinks skips the turn and stores nothing", async () => {
    const { stub, model } = await newAgent([]);
    const seen = await runInAgent(stub(), async (agent) => {
      const result = await agent.saveMessages(async () => {
        await agent.clearMessages();
        return [userMessage("too late")];
      });
      return { status: result.status, messages: agent.messages.length, hooks: agent.responses.length };
    });
    expect(seen).toEqual({ status: "skipped", messages: 0, hooks: 0 });
    expect(model.calls).toHaveLength(0);
  });

  it("§8.4 continueLastTurn() takes the stored fields unless given others, and can be stopped by its signal", async () => {
    const { stub, client } = await newAgent(["one", "two", "three"]);
    const bodies: unknown[] = [];
    await client.chat("Hi", { body: { page: 1 } }).done;
    const statuses = await runInAgent(stub(), async (agent) => {
      agent.beforeTurn = ({ body }) => void bodies.push(body);
      const results = [await agent.goOn(), await agent.goOn({ page: 2 })];
      return [...results, await agent.goOn({}, { signal: AbortSignal.abort() })].map(({ status }) => status);
    });
    expect(statuses).toEqual(["completed", "completed", "aborted"]);
    expect(bodies).toEqual([{ page: 1 }, { page: 2 }]);
  });
});

describe("§9.3 transcript repair (trap 18)", () => {
  it("settles what was interrupted, normalises inputs, keeps everything else, and writes it back once", async () => {
    const { stub, client } = await newAgent(["done", "again"]);
    const part = (id: string, fields: Record<string, unknown>) => ({
      type: "tool-x",
      toolCallId: id,
      input: {},
      ...fields
    });
    const stored = answer("a", [
      { type: "text", text: "Let me see." },
      part("open", { state: "input-available" }),
      part("failed", { state: "output-error", errorText: "its own" }),
      part("denied", { state: "output-denied", approval: { id: "p", approved: false } }),
      part("text", { state: "output-available", input: '{"a":1}', output: 1 }),
      part("list", { state: "output-available", input: "[1]", output: 1 }),
      part("array", { state: "output-error", input: [1], errorText: "no" }),
      part("none", { state: "output-available", input: undefined, output: 1 })
    ]);
    await stub().addMessages([userMessage("Hi", "u"), stored]);
    expect((await client.chat("Go on").done).error).toBeUndefined();
    const parts = (await client.history())[1]?.parts ?? [];
    expect(parts).toMatchObject([
      { type: "text" },
      { state: "output-error", errorText: "The tool call was interrupted before a result was recorded." },
      { state: "output-error", errorText: "its own" },
      { state: "output-denied" },
      { state: "output-available", input: { a: 1 } },
      { state: "output-available", input: {} },
      { state: "output-error", input: {}, errorText: "no" },
      { state: "output-available", input: {} }
    ]);
    await client.chat("And on").done;
    const [events, inStorage] = await runInAgent(stub(), async (agent) => [
      agent.events.filter(({ type }) => type === "chat:transcript:repaired").map(({ payload }) => payload),
      (await agent.sync())[1]?.parts
    ]);
    expect(events).toEqual([
      { removedToolCalls: 1, normalizedInputs: 4, toolCallIds: ["open", "text", "list", "array", "none"] }
    ]);
    expect(inStorage).toEqual(parts);
  });
});

describe("§10.1 onChatError", () => {
  it.each([
    ["an error", () => new Error("other"), "other"],
    ["a text", () => "other", "other"],
    ["a number", () => 7, "7"],
    ["an empty text", () => "", "The assistant was interrupted."],
    ["nothing", () => undefined, "boom"],
    [
      "a failure of its own",
      () => {
        throw new Error("hook");
      },
      "boom"
    ]
  ])(
    "that returns %s decides what everyone is told; the partial answer is stored before",
    async (_name, replace, told) => {
      vi.spyOn(console, "error").mockReturnValue(undefined);
      const { stub, client } = await newAgent([[text("Half"), streamError("boom")]]);
      await runInAgent(stub(), (agent) => {
        agent.replaceError = () => {
          expect(texts(agent.messages)).toEqual(["Hi", "Half"]);
          return replace();
        };
      });
      expect((await client.chat("Hi").done).error).toBe(told);
      const seen = await runInAgent(stub(), (agent) => ({
        hook: agent.responses.map(({ error }) => error),
        calls: agent.errors.length
      }));
      expect(seen).toEqual({ hook: [told], calls: 1 });
    }
  );

  it("is told the stage: before the model's stream it is the turn, and the messages are stored", async () => {
    const { stub, client } = await newAgent([]);
    await runInAgent(stub(), (agent) => {
      agent.beforeTurn = () => Promise.reject(new Error("not today"));
    });
    expect((await client.chat("Hi", { id: "r" }).done).error).toBe("not today");
    const contexts = await runInAgent(stub(), (agent) => agent.errors.map(({ context }) => context));
    expect(contexts).toEqual([{ requestId: "r", stage: "turn", messagesPersisted: true }]);
  });
});

describe("§11 start-up", () => {
  it("gives the agent's own onStart settings and history, on the first start and after an eviction", async () => {
    const { stub, client } = await newAgent(["one"]);
    expect(await runInAgent(stub(), (agent) => agent.started)).toEqual({ messages: 0, config: null });
    await client.chat("Hi").done;
    await evict(stub());
    await stub().getMessages();
    const seen = await runInAgent(stub(), (agent) => ({ started: agent.started, config: agent.getConfig() }));
    expect(seen).toEqual({ started: { messages: 2, config: { starts: 1 } }, config: { starts: 2 } });
  });

  it("keeps settings as JSON under their own key, out of the clients' sight", async () => {
    const { stub, client } = await newAgent([]);
    const rows = await runInAgent(stub(), (agent, state) => {
      agent.configure({ secret: "s3" });
      return state.storage.sql.exec("SELECT value FROM think_config WHERE key = '_think_config'").toArray();
    });
    expect(rows).toEqual([{ value: '{"secret":"s3"}' }]);
    await client.resume({ probeId: "later" });
    expect(JSON.stringify(client.frames)).not.toContain("s3");
  });
});

describe("§12 observability", () => {
  it("publishes events with their envelope on the channels of the Agents SDK", async () => {
    const seen: { readonly channel: string; readonly event: Record<string, unknown> }[] = [];
    const channels = ["agents:chat", "agents:message", "agents:transcript"];
    const listen = (event: unknown, channel: string | symbol) =>
      void seen.push({ channel: String(channel), event: event as Record<string, unknown> });
    for (const channel of channels) subscribe(channel, listen);
    try {
      // An agent that keeps the default sink, and has no model.
      const name = "contract-api-events";
      const client = await connectChat(exports.default, { agent: "BareAgent", name });
      await env.BareAgent.getByName(name).addMessages([
        answer("a", [{ type: "tool-x", toolCallId: "open", input: {}, state: "input-available" }])
      ]);
      await client.chat("Hi").done;
      const own = seen.filter(({ event }) => event.name === name && String(event.type).startsWith("chat:"));
      expect(own.map(({ channel, event }) => [channel, event.type])).toEqual([
        ["agents:transcript", "chat:transcript:repaired"],
        ["agents:chat", "chat:request:failed"]
      ]);
      expect(own[1]?.event).toMatchObject({
        agent: "BareAgent",
        payload: {
          requestId: expect.any(String),
          stage: "turn",
          messagesPersisted: true,
          error: expect.any(String)
        },
        timestamp: expect.any(Number)
      });
    } finally {
      for (const channel of channels) unsubscribe(channel, listen);
    }
  });
});

it("§13 the defaults are what the documents say", async () => {
  const defaults = await runInAgent(
    env.BareAgent.getByName("contract-api-defaults"),
    ({
      maxSteps,
      sendReasoning,
      waitForMcpConnections,
      messageConcurrency,
      hydrationByteBudget,
      mediaEviction
    }) => ({
      ...{
        maxSteps,
        sendReasoning,
        waitForMcpConnections,
        messageConcurrency,
        hydrationByteBudget,
        mediaEviction
      }
    })
  );
  expect(defaults).toEqual({
    maxSteps: 10,
    sendReasoning: true,
    waitForMcpConnections: false,
    messageConcurrency: "queue",
    hydrationByteBudget: 25_165_824,
    mediaEviction: true
  });
});

it("§7.1, §7.8 a call that only an RPC caller could answer is repaired, not waited for", async () => {
  const { stub, client } = await newAgent([toolCall("theirs", {}, { id: "c" }), "done"]);
  await runInAgent(stub(), (agent) => agent.chat("Hi", recorder(), { clientTools: [{ name: "theirs" }] }));
  await evict(stub());
  expect((await client.chat("Go on").done).text).toBe("done");
  expect(JSON.stringify((await client.history())[1])).toContain("interrupted before a result was recorded");
});
