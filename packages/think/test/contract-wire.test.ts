/** Contract §1 and §2, fact by fact, where no other file proves it: frames, the resume handshake, orphans. */
import { exports } from "cloudflare:workers";
import {
  crash,
  gate,
  hang,
  runInAgent,
  streamError,
  text,
  throwError,
  userMessage,
  type Script
} from "@cloudflare/think/testing";
import type { UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import { isList, newAgent, responses, silent, texts } from "./contract-wire-support";

describe("frames (§1)", () => {
  it("§1.1.3 those of the protocol are consumed, whatever their spacing; all others reach the agent", async () => {
    const { client, stub } = await newAgent([]);
    const foreign = ["text", "null", "7", "{}", '{"type":""}', '{"type":"mine"}'];
    const serverOnly = '{"type":"cf_agent_use_chat_response","id":"x","body":"","done":true}';
    client.send({ type: "cf_agent_chat_messages", messages: [userMessage("not stored")] });
    for (const frame of [...foreign, serverOnly]) client.send(frame);
    client.send(' \n{"type":"cf_agent_stream_resume_request"}');
    client.send({ type: "cf_agent_chat_request_cancel", id: "unknown" });
    await client.waitFor("cf_agent_stream_resume_none");
    expect(await runInAgent(stub(), (agent) => [...agent.seen])).toEqual([...foreign, serverOnly]);
    expect(await client.history()).toEqual([]);
  });

  it("§1.1.6, §1.4.4 the agent's own handlers run after the chat's", async () => {
    const { client, stub, connect } = await newAgent([]);
    await client.waitFor("greeting");
    const types = client.frames.map(({ type }) => type);
    expect(types.indexOf("cf_agent_chat_messages")).toBeLessThan(types.indexOf("greeting"));
    await client.close();
    const other = await connect();
    await other.waitFor("greeting");
    expect(await runInAgent(stub(), (agent) => agent.seen)).toEqual(["closed"]);
  });

  it("§1.2 a request that is no POST, or has no body, is ignored without a word", async () => {
    const { client, model } = await newAgent(["answer"]);
    const body = JSON.stringify({ messages: [userMessage("Hi")] });
    client.send({ type: "cf_agent_use_chat_request", id: "get", init: { method: "GET", body } });
    client.send({ type: "cf_agent_use_chat_request", id: "empty", init: { method: "POST" } });
    client.send({ type: "cf_agent_use_chat_request", id: "bare" });
    await client.resume();
    expect(responses(client.frames)).toEqual([]);
    expect(model.calls).toHaveLength(0);
  });

  it("§1.3 have exactly the fields of their situation, live and replayed", async () => {
    const hold = gate();
    const { client, connect } = await newAgent([[text("one"), hold, streamError("boom")], hang()]);
    const turn = client.chat("Hi", { id: "r" });
    await turn.waitForText("one");
    const late = await connect();
    const resumed = await late.resume({ request: false });
    await late.waitFor((frame) => frame.replayComplete === true);
    hold.open();
    await Promise.all([turn.done, resumed?.done]);
    const head = { type: "cf_agent_use_chat_response", id: "r" };
    const messageIds = [expect.any(String)];
    const end = { ...head, body: "boom", done: true, error: true, outcome: "error", messageIds };
    const live = responses(client.frames);
    expect(live.at(-1)).toEqual(end);
    for (const [seq, frame] of live.slice(0, -1).entries())
      expect(frame).toEqual({ ...head, body: expect.stringMatching(/^{"type":/), done: false, seq });
    const replayed = responses(late.frames);
    const complete = replayed.findIndex((frame) => frame.replayComplete === true);
    expect(replayed[complete]).toEqual({
      ...head,
      body: "",
      done: false,
      replay: true,
      replayComplete: true
    });
    for (const frame of replayed.slice(0, complete))
      expect(frame).toMatchObject({ done: false, replay: true });
    for (const frame of replayed.slice(complete + 1)) expect(frame.replay).toBeUndefined();
    expect(replayed.at(-1)).toEqual(end);
    const back = await connect();
    const again = await (await back.resume())?.done;
    expect(again?.frames.at(-1)).toEqual({ ...end, replay: true });
    const stopped = client.chat("Again", { id: "s" });
    await stopped.waitForChunk("start");
    stopped.cancel();
    expect((await stopped.done).frames.at(-1)).toEqual({
      ...{ ...head, id: "s", body: "", done: true, outcome: "aborted", messageIds }
    });
  });

  it("edges §21 ends name the user messages of their request, live, replayed, refused and dropped; other ends name none", async () => {
    const hold = gate();
    const { client, connect, override } = await newAgent(["one", [hold, "two"], streamError("boom"), "four"]);
    const first = [userMessage("a", "u1"), userMessage("b", "u2")];
    const endOf = async (turn: ReturnType<typeof client.chat>) => (await turn.done).frames.at(-1)?.messageIds;
    expect(await endOf(client.chat(first))).toEqual(["u1", "u2"]);
    await override({ messageConcurrency: "drop" });
    const held = client.chat([...client.messages, userMessage("c", "u3")]);
    await held.waitForChunk("start");
    expect(await endOf(client.chat([userMessage("d", "u4")]))).toEqual(["u4"]);
    hold.open();
    expect(await endOf(held)).toEqual(["u3"]);
    await client.chat([userMessage("e", "u5")]).done;
    const back = await connect();
    expect((await (await back.resume())?.done)?.frames.at(-1)).toMatchObject({
      error: true,
      messageIds: ["u5"]
    });
    const regenerated = client.chat([userMessage("e", "u5")], { trigger: "regenerate-message" });
    expect(await endOf(regenerated)).toEqual(["u5"]);
    expect(responses(back.frames).filter((frame) => !frame.done && "messageIds" in frame)).toEqual([]);
  });

  it("§1.5 the list after a request goes to all but the requester, also to those who wait for a replay; chunks do not", async () => {
    const hold = gate();
    const { client, connect } = await newAgent([[text("one"), hold, text("two")], "three"]);
    const turn = client.chat("1");
    await turn.waitForText("one");
    const waiting = await connect();
    await waiting.waitFor("cf_agent_stream_resuming");
    const before = client.frames.length;
    const second = client.chat("2");
    await waiting.waitFor(isList);
    expect(texts(waiting.messages)).toEqual(["1", "2"]);
    hold.open();
    await second.done;
    expect(client.frames.slice(before).some(isList)).toBe(false);
    expect(waiting.chunksOf(turn.id)).toEqual([]);
    // The end of the first stream lets it take part in the second.
    expect((await waiting.follow(second.id).done).text).toBe("three");
  });

  it("§1.6 the messages are served for any method, every other path is the agent's", async () => {
    const { name, client } = await newAgent(["answer"]);
    await client.chat("Hi").done;
    const url = (path: string) => `https://agent.test/agents/wire-agent/${name}${path}`;
    for (const method of ["GET", "POST", "DELETE"]) {
      const response = await exports.default.fetch(url("/get-messages"), { method });
      expect(texts(await response.json())).toEqual(["Hi", "answer"]);
    }
    expect(await (await exports.default.fetch(url("/forget-messages"))).text()).toBe("mine");
  });
});

describe("the resume handshake (§2.6, §2.8)", () => {
  it("§1.7 answers each request although an offer was made before, and replays the whole stream for each acceptance", async () => {
    const { client, connect } = await newAgent([[text("one"), hang()]]);
    const turn = client.chat("Hi");
    await turn.waitForText("one");
    const late = await connect();
    await late.waitFor("cf_agent_stream_resuming");
    const asked = late.frames.length;
    late.send({ type: "cf_agent_stream_resume_request" });
    await late.waitFor({ type: "cf_agent_stream_resuming", id: turn.id }, { from: asked });
    for (const expected of ["one", "oneone"]) {
      const from = late.frames.length;
      late.send({ type: "cf_agent_stream_resume_ack", id: turn.id });
      await late.waitFor({ replayComplete: true }, { from });
      expect(late.follow(turn.id).text).toBe(expected);
    }
  });

  it("§2.6 ends an acceptance of which nothing is known with a bare end", async () => {
    const { client } = await newAgent([]);
    client.send({ type: "cf_agent_stream_resume_ack", id: "unknown" });
    const end = await client.waitFor({ id: "unknown" });
    expect(end).toMatchObject({ body: "", done: true, replay: true });
    expect(responses(client.frames)).toHaveLength(1);
  });

  it("§2.7 a failure is history once a later turn has ended, whatever door it came through", async () => {
    const { client, stub } = await newAgent([throwError("boom"), "fine"]);
    await client.chat("Hi").done;
    await runInAgent(stub(), (agent) => agent.saveMessages([userMessage("Again")]));
    expect(await client.resume()).toBeUndefined();
  });

  it("§2.8 who never accepts gets the end, also of an RPC turn", async () => {
    const hold = gate();
    const { client, connect, stub } = await newAgent([[text("one"), hold]]);
    const running = runInAgent(stub(), (agent) => agent.chat("Hi", silent));
    await client.waitFor((frame) => frame.body?.includes("one") === true);
    const late = await connect();
    const { id } = await late.waitFor("cf_agent_stream_resuming");
    hold.open();
    await running;
    await late.waitFor({ id, done: true });
    expect(late.chunksOf(String(id))).toEqual([]);
    await late.waitFor(isList);
    expect(texts(late.messages)).toEqual(["Hi", "one"]);
  });
});

describe("a stream whose isolate died (§2.5, §2.6)", () => {
  async function orphan(script: Script) {
    const agent = await newAgent([[text("Half"), hang()], ...(script as readonly never[])]);
    await agent.client.chat("Hi", { id: "lost" }).waitForText("Half");
    await crash(agent.stub());
    return agent;
  }

  it("comes before what is said next: the model answers the new question, not its own half answer", async () => {
    const { connect, model } = await orphan(["next"]);
    const tab = await connect();
    await tab.chat("Go on").done;
    expect(texts(await tab.history())).toEqual(["Hi", "Half", "Go on", "next"]);
    expect(model.calls[1]?.userText).toBe("Go on");
  });

  it("comes before the messages of programmatic turns too", async () => {
    const { stub } = await orphan(["next"]);
    await runInAgent(stub(), (agent) => agent.saveMessages([userMessage("Go on")]));
    expect(texts(await stub().getMessages())).toEqual(["Hi", "Half", "Go on", "next"]);
  });

  it("does not keep those who were offered it from the next stream, and ends for them", async () => {
    const { connect } = await orphan(["next"]);
    const silentTab = await connect();
    await silentTab.waitFor({ type: "cf_agent_stream_resuming", id: "lost" });
    const tab = await connect();
    const turn = tab.chat("Go on");
    expect((await silentTab.follow(turn.id).done).text).toBe("next");
    await silentTab.waitFor({ id: "lost", done: true });
  });

  it("is not lost to a request that fails before it has a stream", async () => {
    const { connect } = await orphan([]);
    const tab = await connect();
    const huge = { id: "huge", role: "user", parts: [{ type: "data-blob", data: "x".repeat(2_500_000) }] };
    expect((await tab.chat([huge as never]).done).error).toContain("can be stored");
    expect(texts(await (await connect()).history())).toEqual(["Hi", "Half"]);
  });

  it("cannot stop later turns by being too large to be stored", async () => {
    const { client, connect, stub, override } = await newAgent(["unused", "next"]);
    const blob = (id: string) => ({ type: "data-blob", id, data: "x".repeat(1_000_000) });
    await override({
      _transformInferenceResult: () => ({
        async *toUIMessageStream() {
          yield { type: "start" } as const;
          yield* [blob("a"), blob("b"), blob("c")] as never as UIMessageChunk[];
          yield* [
            { type: "text-start", id: "t" },
            { type: "text-delta", id: "t", delta: "Half" }
          ] as const;
          await new Promise(() => {});
        }
      })
    });
    await client.chat("Hi").waitForText("Half");
    await crash(stub());
    const tab = await connect();
    expect((await tab.chat("Go on").done).text).toBe("next");
  });
});
