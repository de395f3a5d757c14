import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import {
  connectChat,
  crash,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  toolCall,
  userMessage,
  type ChatClient,
  type Script
} from "@cloudflare/think/testing";
import { TestingChat } from "./worker/testing-agents";

const clients: ChatClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function connect(name: string, options: { readonly timeout?: number } = {}) {
  const client = await connectChat(exports.default, { agent: "TestingChat", name, ...options });
  clients.push(client);
  return client;
}

async function chatWith(name: string, script: Script) {
  const model = scriptedModel(script);
  await runInAgent(env.TestingChat.getByName(name), (agent) => {
    agent.model = model;
  });
  return { model, client: await connect(name) };
}

type Frame = Readonly<Record<string, unknown>>;

/** A server without an agent: answers each frame by hand. */
function serverThat(answer: (frame: Frame, reply: (frame: Frame) => void) => void) {
  return {
    async fetch() {
      const { 0: client, 1: server } = new WebSocketPair();
      server.accept();
      server.addEventListener("message", (event) =>
        answer(JSON.parse(String(event.data)), (frame) => server.send(JSON.stringify(frame)))
      );
      return new Response(null, { status: 101, webSocket: client });
    }
  };
}

describe("a turn of the chat client", () => {
  it("ends with its text, chunks and frames", async () => {
    const { model, client } = await chatWith("turn", [
      [text("Let me add."), toolCall("add", { a: 1, b: 2 })],
      "3."
    ]);
    const turn = client.chat("1 + 2?", {
      id: "mine",
      body: { mood: "good" },
      clientTools: [{ name: "here" }]
    });
    const result = await turn.done;
    expect(result).toMatchObject({ id: "mine", text: "Let me add.3.", error: undefined });
    expect(result.chunks.at(0)?.type).toBe("start");
    expect(result.frames.at(-1)).toMatchObject({ id: "mine", done: true });
    expect(client.chunksOf("mine")).toEqual(result.chunks);
    expect(await turn.waitForChunk("tool-output-available")).toMatchObject({ output: 3 });
    expect(model.calls.map((call) => call.userText)).toEqual(["1 + 2?", "1 + 2?"]);
    const bodies = await runInAgent(env.TestingChat.getByName("turn"), (agent) => agent.bodies);
    expect(bodies).toMatchObject([
      {
        mood: "good",
        clientTools: [{ name: "here" }],
        trigger: "submit-message",
        messages: [{ role: "user" }]
      }
    ]);
  });

  it("sends a list of messages as it is", async () => {
    const { model, client } = await chatWith("list", ["Yes."]);
    await client.chat([userMessage("First", "one"), userMessage("Second", "two")]).done;
    expect(model.calls[0]?.userText).toBe("Second");
  });

  it("reports the error text of a failed turn and the text before it", async () => {
    const { client } = await chatWith("error", [["Half an ", streamError("overloaded")]]);
    const result = await client.chat("go").done;
    expect(result.text).toBe("Half an ");
    expect(result.error).toContain("overloaded");
  });

  it("shows the text so far while the model is held at a gate", async () => {
    const held = gate();
    const { client } = await chatWith("gate", [["one ", held, "two"]]);
    const turn = client.chat("go");
    await held.reached;
    await turn.waitForText("one");
    expect(turn.text).toBe("one ");
    held.open();
    expect((await turn.done).text).toBe("one two");
  });

  it("says at once that it is over when a test waits for what did not come", async () => {
    const { client } = await chatWith("over", ["short"]);
    const turn = client.chat("go");
    await expect(turn.waitForText("long")).rejects.toThrow(
      `The turn was over before the text "long" in turn ${turn.id} came`
    );
    await expect(turn.waitForChunk("file")).rejects.toThrow("The turn was over before a file chunk");
  });

  it("ends after it was cancelled", async () => {
    const { model, client } = await chatWith("cancel", [["some", hang()]]);
    const turn = client.chat("go");
    await turn.waitForText("some");
    turn.cancel();
    expect((await turn.done).text).toBe("some");
    expect(model.calls[0]?.aborted).toBe(true);
  });

  it("rejects when the socket closes first", async () => {
    const { client } = await chatWith("closing", [hang()]);
    const turn = client.chat("go");
    await turn.waitForChunk("start");
    await client.close(4000, "enough");
    await expect(turn.done).rejects.toThrow("The socket was closed");
    // A hanging turn would make a later eviction of all objects wait.
    await crash(env.TestingChat.getByName("closing"));
  });
});

describe("the resume handshake", () => {
  it("gives undefined when there is nothing to resume", async () => {
    const { client } = await chatWith("idle", []);
    expect(await client.resume()).toBeUndefined();
  });

  it("replays the stream in progress and follows it to its end", async () => {
    const held = gate();
    const { client } = await chatWith("resume", [["one ", held, "two"]]);
    const first = client.chat("go");
    await first.waitForText("one");
    const late = await connect("resume");
    const turn = await late.resume();
    await turn?.waitForText("one");
    held.open();
    const result = await turn?.done;
    expect(result).toMatchObject({ id: first.id, text: "one two" });
    expect(result?.frames.some((frame) => frame.replay === true)).toBe(true);
  });

  it("is not misled when the live stream ends while the acknowledgement is on its way", async () => {
    const response = { type: "cf_agent_use_chat_response", id: "turn", body: "", done: false };
    const delta = JSON.stringify({ type: "text-delta", id: "text", delta: "whole" });
    const server = serverThat((frame, reply) => {
      if (frame.type === "cf_agent_stream_resume_request")
        reply({ type: "cf_agent_stream_resuming", id: "turn" });
      if (frame.type !== "cf_agent_stream_resume_ack") return;
      reply({ ...response, done: true });
      reply({ ...response, body: delta, replay: true });
      reply({ ...response, done: true, replay: true });
    });
    const client = await connectChat(server, { agent: "ByHand" });
    const turn = await client.resume();
    expect((await turn?.done)?.text).toBe("whole");
  });

  it("accepts an offer the server made on its own", async () => {
    const held = gate();
    const { client } = await chatWith("offer", [["one ", held, "two"]]);
    await client.chat("go").waitForText("one");
    const late = await connect("offer");
    late.send({ type: "cf_agent_stream_resume_request" });
    await late.waitFor("cf_agent_stream_resuming");
    const turn = await late.resume({ request: false });
    await turn?.waitForText("one");
    held.open();
    expect((await turn?.done)?.text).toBe("one two");
  });
});

describe("the record of frames", () => {
  it("holds every frame in order and finds them by type, fields or question", async () => {
    const { client } = await chatWith("frames", ["Hi"]);
    const { id } = await client.chat("go").done;
    const byType = await client.waitFor("cf_agent_use_chat_response");
    const byFields = await client.waitFor({ id, done: false });
    const byQuestion = await client.waitFor((frame) => frame.id === id);
    expect(byFields).toBe(byType);
    expect(byQuestion).toBe(byType);
    const position = client.frames.indexOf(byType);
    const next = await client.waitFor("cf_agent_use_chat_response", { from: position + 1 });
    expect(client.frames.indexOf(next)).toBe(position + 1);
    expect(client.follow(id).text).toBe("Hi");
  });

  it("lists the frames received when a wait fails", async () => {
    const { client } = await chatWith("failing", ["Hi"]);
    await client.chat("go").done;
    const waiting = client.waitFor("no_such_frame", { timeout: 5 });
    await expect(waiting).rejects.toThrow('5 ms passed while waiting for a frame of type "no_such_frame"');
    await expect(waiting).rejects.toThrow(/#\d+ cf_agent_use_chat_response .*text-delta/u);
  });

  it("keeps messages that are not JSON", async () => {
    const { client } = await chatWith("binary", []);
    client.send({ type: "binary" });
    expect((await client.waitFor("unparsed")).raw).toBeDefined();
  });

  it("shows what the server tells all clients", async () => {
    const { client } = await chatWith("clear", []);
    const other = await connect("clear");
    client.clear();
    expect(await other.waitFor("cf_agent_chat_clear")).toEqual({ type: "cf_agent_chat_clear" });
  });
});

describe("connecting", () => {
  it("accepts the class itself and loads the history over HTTP", async () => {
    const client = await connectChat(exports.default, { agent: TestingChat, name: "by-class" });
    expect(client.url.pathname).toBe("/agents/testing-chat/by-class");
    expect(await client.history()).toMatchObject([{ id: "one" }]);
    await client.close();
    expect(await client.closed).toHaveProperty("code");
  });

  it("reaches an agent of a namespace past the Worker's routes", async () => {
    await chatWith("by-namespace", ["Hi"]);
    const client = await connectChat(env.TestingChat, { name: "by-namespace" });
    expect((await client.chat("go").done).text).toBe("Hi");
    expect(await client.history()).toMatchObject([{ id: "one" }]);
    await client.close();
  });

  it("says what the server answered when it opens no socket", async () => {
    const connecting = connectChat(exports.default, { agent: "NoSuchAgent" });
    await expect(connecting).rejects.toThrow("/agents/no-such-agent/default answered");
  });

  it("sends tool results and approvals as the browser client does", async () => {
    const sent: unknown[] = [];
    const echo = serverThat((frame, reply) => {
      sent.push(frame);
      reply(frame);
    });
    const client = await connectChat(echo, { agent: "Echo" });
    client.toolResult({ toolCallId: "a", toolName: "here", output: 1 });
    client.toolResult({ toolCallId: "b", toolName: "here", errorText: "no" });
    client.toolApproval("c", true);
    await client.waitFor({ toolCallId: "c" });
    expect(sent).toEqual([
      {
        type: "cf_agent_tool_result",
        toolCallId: "a",
        toolName: "here",
        output: 1,
        state: "output-available",
        autoContinue: true
      },
      {
        type: "cf_agent_tool_result",
        toolCallId: "b",
        toolName: "here",
        state: "output-error",
        errorText: "no",
        autoContinue: false
      },
      { type: "cf_agent_tool_approval", toolCallId: "c", approved: true, autoContinue: true }
    ]);
  });
});
