import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  crash,
  evict,
  gate,
  hang,
  reasoning,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  throwError,
  toolCall,
  userMessage,
  type Script
} from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { useModel } from "./worker/chat-agents";

let counter = 0;

/** A fresh agent with a scripted model, and ways to reach it. */
async function newChat(script: Script) {
  const name = `chat-${(counter += 1)}`;
  const model = scriptedModel(script);
  useModel(name, model);
  const connect = () => connectChat(exports.default, { agent: "ChatAgent", name });
  const stub = () => env.ChatAgent.getByName(name);
  const messages = () => runInAgent(stub(), (agent) => agent.getMessages());
  return { name, model, connect, stub, messages, client: await connect() };
}

describe("a chat turn over the WebSocket", () => {
  it("streams the answer chunk by chunk and ends with exactly one terminal frame", async () => {
    const { client } = await newChat([text(["Hel", "lo ", "there"])]);
    const result = await client.chat("Hi").done;
    expect(result.text).toBe("Hello there");
    expect(result.chunks.filter((chunk) => chunk.type === "text-delta")).toHaveLength(3);
    expect(result.frames.filter((frame) => frame.done)).toHaveLength(1);
    expect(result.frames.at(-1)).toMatchObject({ body: "", done: true, outcome: "completed" });
    expect(result.frames.map((frame) => frame.seq)).toEqual(
      [...result.frames.keys()].slice(0, -1).concat(undefined as never)
    );
  });

  it("stores both messages under the ids the client saw", async () => {
    const { client, messages } = await newChat(["Hello"]);
    const question = userMessage("Hi", "question");
    const { chunks } = await client.chat([question]).done;
    const start = chunks.find((chunk) => chunk.type === "start");
    const stored = await messages();
    expect(stored[0]).toEqual(question);
    expect(stored[1]).toMatchObject({ role: "assistant", id: start?.messageId });
    expect(stored[1]?.parts).toContainEqual({ type: "text", text: "Hello", state: "done" });
    expect(await client.history()).toEqual(stored);
  });

  it("runs tools and lets the model use their results", async () => {
    const { client, model, messages } = await newChat([toolCall("add", { a: 2, b: 3 }), "It is 5."]);
    const { text: answer } = await client.chat("2 + 3?").done;
    expect(answer).toBe("It is 5.");
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"sum":5');
    const [, assistant] = await messages();
    expect(assistant?.parts).toContainEqual(
      expect.objectContaining({ type: "tool-add", state: "output-available", output: { sum: 5 } })
    );
  });

  it("tells the model who it is and what it may use", async () => {
    const { client, model } = await newChat(["Hello"]);
    await client.chat("Hi").done;
    const system = JSON.stringify(model.calls[0]?.prompt[0]);
    expect(system).toContain("You are a careful, capable assistant");
    expect(system).toContain("You are running inside a Think agent.");
  });

  it("shows every tab the question and the stream", async () => {
    const { client, connect } = await newChat(["Hello"]);
    const other = await connect();
    const turn = client.chat("Hi");
    await turn.done;
    expect((await other.follow(turn.id).done).text).toBe("Hello");
    expect(other.messages.map((message) => message.role)).toEqual(["user"]);
  });

  it("answers requests one after the other, in order", async () => {
    const hold = gate();
    const { client, model } = await newChat([[hold, "one"], "two"]);
    const first = client.chat("1");
    const second = client.chat("2");
    await first.waitForChunk("start");
    expect(model.calls).toHaveLength(1);
    hold.open();
    expect((await first.done).text).toBe("one");
    expect((await second.done).text).toBe("two");
  });

  it("remembers the conversation after an eviction", async () => {
    const { client, model, stub, messages } = await newChat(["first", "second"]);
    await client.chat("Hi").done;
    await evict(stub());
    await client.chat("Again").done;
    const prompt = JSON.stringify(model.calls[1]?.prompt);
    expect(prompt).toContain("Hi");
    expect(prompt).toContain("first");
    expect(await messages()).toHaveLength(4);
  });

  it("replaces the last answer on regenerate, and asks the model without it", async () => {
    const { client, model, stub, messages } = await newChat(["first try", "second try"]);
    const question = userMessage("Hi");
    await client.chat([question]).done;
    await client.chat([question], { trigger: "regenerate-message" }).done;
    const stored = await messages();
    expect(stored).toHaveLength(2);
    expect(JSON.stringify(stored)).toContain("second try");
    expect(JSON.stringify(model.calls[1]?.prompt)).not.toContain("first try");
    await evict(stub());
    expect(await messages()).toEqual(stored);
  });
});

describe("a turn that does not end well", () => {
  it.each([
    ["reported in the stream", [text("Well, "), streamError("boom")]],
    ["thrown in mid-stream", [text("Well, "), throwError("boom")]]
  ])(
    "keeps the partial answer and tells live and returning clients the same error, %s",
    async (_name, script) => {
      const { client, connect, stub, messages } = await newChat([script]);
      const live = await client.chat("Hi").done;
      expect(live).toMatchObject({ text: "Well, ", error: "boom" });
      expect(live.frames.at(-1)).toMatchObject({ done: true, error: true, body: "boom", outcome: "error" });
      expect((await messages()).at(-1)?.parts).toContainEqual({
        type: "text",
        text: "Well, ",
        state: "done"
      });

      await evict(stub());
      const returning = await connect();
      const replayed = await (await returning.resume())?.done;
      expect(replayed).toMatchObject({ text: "Well, ", error: "boom" });
      expect(replayed?.frames.every((frame) => frame.replay)).toBe(true);
    }
  );

  it("tells a client that comes back of an error without content, until the next request", async () => {
    const { connect, client } = await newChat([throwError("no quota"), "fine"]);
    expect((await client.chat("Hi").done).error).toBe("no quota");
    const returning = await connect();
    expect((await (await returning.resume())?.done)?.error).toBe("no quota");
    await client.chat("Again").done;
    expect(await (await connect()).resume()).toBeUndefined();
  });

  it("says which method to override when there is no model", async () => {
    const client = await connectChat(exports.default, { agent: "BareAgent", name: "bare" });
    const { error } = await client.chat("Hi").done;
    expect(error).toContain("BareAgent has no model. Override getModel() in BareAgent");
  });

  it("stops at once when cancelled, keeps what was said, and takes the next request", async () => {
    const { client, messages } = await newChat([[text("So far"), hang()], "next"]);
    const turn = client.chat("Hi");
    await turn.waitForText("So far");
    turn.cancel();
    const result = await turn.done;
    expect(result.error).toBeUndefined();
    expect(result.frames.at(-1)).toMatchObject({ done: true, outcome: "aborted" });
    expect((await messages()).at(-1)?.parts).toContainEqual({ type: "text", text: "So far", state: "done" });
    expect((await client.chat("And?").done).text).toBe("next");
  });

  it("clears in mid-stream: the turn ends, nothing is stored, other tabs are told", async () => {
    const { client, connect, messages } = await newChat([[text("So far"), hang()], "fresh"]);
    const other = await connect();
    const turn = client.chat("Hi");
    await turn.waitForText("So far");
    client.clear();
    expect((await turn.done).error).toBeUndefined();
    await other.waitFor((frame) => frame.type === "cf_agent_chat_clear");
    expect(client.frames.some((frame) => frame.type === "cf_agent_chat_clear")).toBe(false);
    expect(await messages()).toEqual([]);
    expect((await client.chat("Hello").done).text).toBe("fresh");
  });

  it("skips what was waiting when the conversation is cleared", async () => {
    const { client, model, stub, messages } = await newChat([hang(), "never"]);
    const running = client.chat("1");
    const waiting = client.chat("2");
    await running.waitForChunk("start");
    // One round trip on the socket: the second request is in the queue.
    await client.resume();
    await stub().clearMessages();
    expect((await waiting.done).frames.at(-1)).toMatchObject({ done: true, outcome: "skipped" });
    await running.done;
    expect(model.calls).toHaveLength(1);
    expect(await messages()).toEqual([]);
  });
});

describe("joining a stream", () => {
  it("offers a running stream on connect instead of the messages, replays it merged and goes on live", async () => {
    const hold = gate();
    const { client, connect } = await newChat([[text(["a", "b", "c"]), hold, text(["d", "e"])]]);
    const turn = client.chat("Hi");
    await turn.waitForText("abc");
    const late = await connect();
    await late.waitFor((frame) => frame.type === "cf_agent_stream_resuming");
    expect(late.frames.some((frame) => frame.type === "cf_agent_chat_messages")).toBe(false);
    const resumed = await late.resume({ request: false });
    await late.waitFor((frame) => frame.replayComplete === true);
    expect(resumed?.chunks.filter((chunk) => chunk.type === "text-delta")).toHaveLength(1);
    hold.open();
    expect((await resumed?.done)?.text).toBe("abcde");
    expect((await turn.done).text).toBe("abcde");
  });

  it("sends no live chunk between the offer and its acceptance, and loses none", async () => {
    const hold = gate();
    const { client, connect } = await newChat([[text("one "), hold, text("two "), hang()]]);
    const turn = client.chat("Hi");
    await turn.waitForText("one");
    const late = await connect();
    hold.open();
    await turn.waitForText("two");
    expect(late.frames.filter((frame) => frame.type === "cf_agent_use_chat_response")).toEqual([]);
    const resumed = await late.resume({ request: false });
    await resumed?.waitForText("one two ");
    turn.cancel();
    expect((await resumed?.done)?.text).toBe("one two ");
  });

  it("replays a stream that ended between the offer and its acceptance", async () => {
    const hold = gate();
    const { client, connect } = await newChat([
      [reasoning("hm"), text("one "), hold, toolCall("add", { a: 1, b: 1 })],
      "two"
    ]);
    const turn = client.chat("Hi");
    await turn.waitForText("one");
    const late = await connect();
    await late.waitFor((frame) => frame.type === "cf_agent_stream_resuming");
    hold.open();
    await turn.done;
    const resumed = await late.resume({ request: false });
    late.send({ type: "cf_agent_stream_resume_ack", id: turn.id });
    await late.waitFor((frame) => frame.replay === true && frame.done === true);
    expect(resumed?.chunks.some((chunk) => chunk.type === "tool-output-available")).toBe(true);
    expect(resumed?.text).toContain("two");
  });

  it("says there is nothing to resume when the last turn completed", async () => {
    const { client } = await newChat(["Hello"]);
    await client.chat("Hi").done;
    expect(await client.resume({ probeId: "p1" })).toBeUndefined();
    expect(client.frames.at(-1)).toEqual(
      expect.objectContaining({ type: "cf_agent_stream_resume_none", reason: "idle", probeId: "p1" })
    );
  });

  it("makes a message of what a crashed isolate had streamed, once", async () => {
    const { client, connect, stub } = await newChat([[text("Half an ans"), hang()]]);
    const turn = client.chat("Hi");
    await turn.waitForText("Half an ans");
    await crash(stub());
    const first = await connect();
    expect((await (await first.resume({ request: false }))?.done)?.text).toBe("Half an ans");
    const second = await connect();
    expect(await second.resume()).toBeUndefined();
    expect(second.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
  });
});

describe("bad input", () => {
  it.each([
    ["not JSON", "hello"],
    ["JSON null", "null"],
    ["a number", "42"],
    ["an unknown type", '{"type":"nonsense"}'],
    ["a field of the wrong type", '{"type":"cf_agent_chat_request_cancel","id":5}'],
    [
      "a request without messages",
      '{"type":"cf_agent_use_chat_request","id":"x","init":{"method":"POST","body":"{}"}}'
    ],
    ["10 MB", `{"type":"nonsense","x":"${"x".repeat(10_000_000)}"}`]
  ])("changes nothing and leaves the object usable: %s", async (_name, frame) => {
    const { client, messages } = await newChat(["still here"]);
    client.send(frame);
    expect((await client.chat("Hi").done).text).toBe("still here");
    expect(await messages()).toHaveLength(2);
  });

  it("hands frames that are not chat to the agent's own handler, and consumes those that are", async () => {
    const { client, stub } = await newChat(["ok"]);
    client.send("custom");
    client.send({ type: "cf_agent_stream_resume_request" });
    await client.chat("Hi").done;
    expect(await runInAgent(stub(), (agent) => [...agent.received])).toEqual(["custom"]);
  });

  it("answers a request that is too large with an error that says the limit", async () => {
    const { client, messages } = await newChat(["ok"]);
    const { error } = await client.chat("x".repeat(9_000_000)).done;
    expect(error).toContain("8 MiB");
    expect(await messages()).toEqual([]);
  });

  it("leaves other HTTP requests to the agent", async () => {
    const { name } = await newChat([]);
    const response = await exports.default.fetch(`https://agent.test/agents/chat-agent/${name}/page`);
    expect(await response.text()).toBe("mine");
  });
});
