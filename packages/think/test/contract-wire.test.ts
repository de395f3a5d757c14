/** Contract §1–§5, fact by fact, where no other file proves it: frames, the resume handshake, the turn machinery, requests and endings. */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  crash,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  throwError,
  userMessage,
  type ReceivedFrame,
  type Script
} from "@cloudflare/think/testing";
import { getCurrentAgent } from "agents";
import type { UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import type { StreamableResult, TurnConfig, TurnContext } from "../src/public-types";
import { useTurnModel } from "./worker/turn-agents";

let counter = 0;

async function newAgent(script: Script) {
  const name = `wire-${(counter += 1)}`;
  const model = scriptedModel(script);
  useTurnModel(name, model);
  const connect = () => connectChat(exports.default, { agent: "WireAgent", name });
  const stub = () => env.WireAgent.getByName(name);
  /** Gives the instance hooks of the test's own. */
  const override = (hooks: {
    readonly beforeTurn?: (context: TurnContext) => void | TurnConfig | Promise<void | TurnConfig>;
    readonly _transformInferenceResult?: (result: StreamableResult) => StreamableResult;
    readonly messageConcurrency?: string;
  }) => runInAgent(stub(), (agent) => void Object.assign(agent, hooks));
  return { name, model, connect, stub, override, client: await connect() };
}

const texts = (messages: readonly { readonly parts: readonly { readonly type: string }[] }[]) =>
  messages.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : "")).join(""));

const responses = (frames: readonly ReceivedFrame[]) =>
  frames.filter((frame) => frame.type === "cf_agent_use_chat_response");

const isList = (frame: ReceivedFrame) => frame.type === "cf_agent_chat_messages";

/** A stream of the test's own in place of the model's. */
const streamOf =
  (...chunks: readonly object[]) =>
  (): StreamableResult => ({
    async *toUIMessageStream() {
      yield* chunks as UIMessageChunk[];
    }
  });

const silent = { onStart() {}, onEvent() {}, onDone() {}, onError() {} };

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
    const end = { ...head, body: "boom", done: true, error: true, outcome: "error" };
    const live = responses(client.frames);
    expect(live.at(-1)).toEqual(end);
    for (const [seq, frame] of live.slice(0, -1).entries())
      expect(frame).toEqual({ ...head, body: expect.stringMatching(/^{"type":/), done: false, seq });
    const replayed = responses(late.frames);
    const complete = replayed.findIndex((frame) => frame.replayComplete === true);
    expect(replayed[complete]).toEqual({ ...head, body: "", done: false, replay: true, replayComplete: true });
    for (const frame of replayed.slice(0, complete)) expect(frame).toMatchObject({ done: false, replay: true });
    for (const frame of replayed.slice(complete + 1)) expect(frame.replay).toBeUndefined();
    expect(replayed.at(-1)).toEqual(end);
    const back = await connect();
    const again = await (await back.resume())?.done;
    expect(again?.frames.at(-1)).toEqual({ ...end, replay: true });
    const stopped = client.chat("Again", { id: "s" });
    await stopped.waitForChunk("start");
    stopped.cancel();
    expect((await stopped.done).frames.at(-1)).toEqual({
      ...{ ...head, id: "s", body: "", done: true, outcome: "aborted" }
    });
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
    const { client, connect, stub, override } = await newAgent(["next"]);
    const blob = (id: string) => ({ type: "data-blob", id, data: "x".repeat(1_000_000) });
    await override({
      _transformInferenceResult: () => ({
        async *toUIMessageStream() {
          yield { type: "start" } as const;
          yield* [blob("a"), blob("b"), blob("c")] as never as UIMessageChunk[];
          yield* [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "Half" }] as const;
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

describe("turns (§3, §4)", () => {
  it("§3.1 run one at a time and in order, whatever door they came through", async () => {
    const hold = gate();
    const { client, stub, model } = await newAgent(["zero", [hold, "one"], "two", "three", "four"]);
    await client.chat("0").done;
    const first = client.chat("1");
    await first.waitForChunk("start");
    const rest = runInAgent(stub(), async (agent) => {
      const turns = [agent.chat("2", silent), agent.saveMessages([userMessage("3")]), agent.continueNow()];
      await Promise.all(turns);
    });
    await client.resume();
    expect(model.calls).toHaveLength(2);
    hold.open();
    await rest;
    const said = await runInAgent(stub(), (agent) => texts(agent.responses.map(({ message }) => message)));
    expect(said).toEqual(["zero", "one", "two", "three", "four"]);
  });

  it("§3.2 of the same id are each cancelled by it", async () => {
    const { client } = await newAgent(["first", [text("second"), hang()]]);
    const first = client.chat("1", { id: "same" });
    client.chat("2", { id: "same" });
    await first.done;
    const from = client.frames.findIndex((frame) => frame.id === "same" && frame.done === true) + 1;
    await client.waitFor((frame) => frame.body?.includes("second") === true, { from });
    client.send({ type: "cf_agent_chat_request_cancel", id: "same" });
    expect(await client.waitFor({ id: "same", done: true }, { from })).toMatchObject({ outcome: "aborted" });
  });

  it("§3.2 a cancel ends a turn whose hook never answers", async () => {
    const { client, override, model } = await newAgent(["never", "next"]);
    await override({ beforeTurn: () => new Promise(() => {}) });
    const stuck = client.chat("Hi");
    await client.resume();
    stuck.cancel();
    expect((await stuck.done).frames.at(-1)).toMatchObject({ outcome: "aborted" });
    await override({ beforeTurn: () => {} });
    await client.chat("Again").done;
    expect(model.calls).toHaveLength(1);
  });

  it("§3.2 a cancel ends a turn whose RPC caller no longer takes its events", async () => {
    const many = Array.from({ length: 200 }, () => "x");
    const { client, stub } = await newAgent([text(many), "next"]);
    let id = "";
    void runInAgent(stub(), (agent) => {
      const callback = {
        ...silent,
        onStart: ({ requestId }: { requestId: string }) => void (id = requestId),
        onEvent: () => new Promise<void>(() => {})
      };
      // Never settles: its caller holds it, and nobody else may be held by that.
      void agent.chat("Hi", callback);
    });
    await client.waitFor((frame) => frame.body?.includes("text-delta") === true);
    await stub().cancelChat(id);
    await client.waitFor({ id, done: true });
    expect((await client.chat("Again").done).text).toBe("next");
  });

  it("§3.3, §4.1.3 a dropped submit leaves the request context alone", async () => {
    const hold = gate();
    const { client, override, stub } = await newAgent([[hold, "one"], "two"]);
    const bodies: unknown[] = [];
    await override({ messageConcurrency: "drop", beforeTurn: ({ body }) => void bodies.push(body) });
    const first = client.chat("1", { body: { page: 1 } });
    await first.waitForChunk("start");
    await client.chat("2", { body: { page: 2 } }).done;
    hold.open();
    await first.done;
    await runInAgent(stub(), (agent) => agent.continueNow());
    expect(bodies).toEqual([{ page: 1 }, { page: 1 }]);
  });

  it("§4.2.8 use the fields and tools of their own request, not those of a later one; the trigger is none of them", async () => {
    const hold = gate();
    const { client, override } = await newAgent([[hold, "one"], "two", "three"]);
    const seen: unknown[] = [];
    await override({ beforeTurn: ({ body, tools }) => void seen.push([body, Object.keys(tools)]) });
    const first = client.chat("1", { body: { page: 1 }, clientTools: [{ name: "a" }] });
    await first.waitForChunk("start");
    const second = client.chat("2", { body: { page: 2 }, clientTools: [{ name: "b" }] });
    const third = client.chat("3", { clientTools: [] });
    await client.resume();
    hold.open();
    await Promise.all([first.done, second.done, third.done]);
    expect(seen).toEqual([
      [{ page: 1 }, ["a"]],
      [{ page: 2 }, ["b"]],
      [undefined, []]
    ]);
  });

  it("§4.3.13, §4.4.18 tell onChatError and observers the stage and whether the messages are stored", async () => {
    const { client, stub, name } = await newAgent([]);
    const huge = { id: "huge", role: "user", parts: [{ type: "data-blob", data: "x".repeat(2_500_000) }] };
    await client.chat([huge as never], { id: "persist" }).done;
    useTurnModel(name, undefined as never);
    await client.chat("Hi", { id: "turn" }).done;
    const { told, emitted } = await runInAgent(stub(), (agent) => ({
      told: agent.errors.map(({ context }) => context),
      emitted: agent.events
        .filter(({ type }) => type === "chat:request:failed")
        .map(({ payload }) => payload)
    }));
    const expected = [
      { requestId: "persist", stage: "persist", messagesPersisted: false },
      { requestId: "turn", stage: "turn", messagesPersisted: true }
    ];
    expect(told).toEqual(expected);
    expect(emitted).toMatchObject(expected);
  });

  it("§4.4.16 run in the context of the connection that asked; programmatic ones have none", async () => {
    const hold = gate();
    const { client, connect, override, stub } = await newAgent([[hold, "one"], "two", "three"]);
    const other = await connect();
    const seen: (string | undefined)[] = [];
    await override({ beforeTurn: () => void seen.push(getCurrentAgent().connection?.id) });
    const ids = await runInAgent(stub(), (agent) => [...agent.getConnections()].map(({ id }) => id));
    const first = client.chat("1");
    await first.waitForChunk("start");
    const second = other.chat("2");
    await other.resume();
    const third = runInAgent(stub(), (agent) => agent.chat("3", silent));
    hold.open();
    await Promise.all([first.done, second.done, third]);
    expect(new Set(seen.slice(0, 2))).toEqual(new Set(ids));
    expect(seen[2]).toBeUndefined();
  });

  it("§4.4.17 that a clear made stale end for every tab", async () => {
    const { client, connect } = await newAgent([hang(), "never"]);
    const other = await connect();
    const running = client.chat("1");
    const waiting = client.chat("2");
    await running.waitForChunk("start");
    await client.resume();
    other.clear();
    await waiting.done;
    await other.waitFor({ id: waiting.id, done: true });
    expect(responses(client.frames).filter(({ id, done }) => id === waiting.id && done)).toHaveLength(1);
  });

  it("§4.4.18 that cannot even begin end with an error, and the object goes on", async () => {
    const { client, stub } = await newAgent(["never", "next"]);
    const table = "cf_ai_chat_stream_metadata";
    await client.resume();
    await runInAgent(stub(), (_agent, { storage }) => {
      storage.sql.exec(`CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
    });
    expect((await client.chat("Hi").done).error).toContain("disk full");
    await runInAgent(stub(), (_agent, { storage }) => void storage.sql.exec("DROP TRIGGER refuse"));
    expect((await client.chat("Again").done).text).toBe("never");
  });
});

describe("the model's stream (§5)", () => {
  const said = [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hello" },
    { type: "text-end", id: "t" }
  ];

  it("§5.3 takes the id that the provider brings", async () => {
    const { client, override } = await newAgent(["unused"]);
    await override({ _transformInferenceResult: streamOf({ type: "start", messageId: "theirs" }, ...said) });
    const { chunks } = await client.chat("Hi").done;
    expect(chunks[0]).toEqual({ type: "start", messageId: "theirs" });
    expect((await client.history())[1]).toMatchObject({ id: "theirs" });
  });

  it("§1.8, §5.3 neither stamps a continuation nor lets it take the place of an earlier message", async () => {
    const { client, override, stub } = await newAgent(["first", "second", "third"]);
    await client.chat("Hi").done;
    const id = (await client.history())[1]?.id;
    const one = await runInAgent(stub(), (agent) => agent.continueNow());
    const { chunks } = await client.follow(one.requestId).done;
    expect(chunks[0]).toEqual({ type: "start" });
    await override({ _transformInferenceResult: streamOf({ type: "start", messageId: id }, ...said) });
    await runInAgent(stub(), (agent) => agent.continueNow());
    const history = await client.history();
    expect(texts(history)).toEqual(["Hi", "first", "second", "Hello"]);
    expect(new Set(history.map((message) => message.id)).size).toBe(4);
  });

  it("§1.8, §5.5 an error chunk without a text is told as it is", async () => {
    const { client, override } = await newAgent(["unused"]);
    await override({ _transformInferenceResult: streamOf({ type: "error", code: 7 }, ...said) });
    expect((await client.chat("Hi").done).error).toBe('{"type":"error","code":7}');
  });

  it("§5.2.3, §14 row 20 a turn that is stopped while its output is awaited is stopped, once, for everybody", async () => {
    const { client, override, stub } = await newAgent(["unused", "next"]);
    const hold = gate();
    await override({
      _transformInferenceResult: () => ({ ...streamOf(...said)(), output: hold.wait() }),
      beforeTurn: () => ({ output: {} as never })
    });
    const turn = client.chat("Hi");
    await turn.waitForChunk("text-end");
    turn.cancel();
    await turn.done;
    hold.open();
    await override({ _transformInferenceResult: (result) => result, beforeTurn: () => {} });
    await client.chat("Again").done;
    expect(responses(client.frames).filter(({ id, done }) => id === turn.id && done)).toMatchObject([
      { outcome: "aborted" }
    ]);
    expect(await runInAgent(stub(), (agent) => agent.responses.map(({ status }) => status))).toEqual([
      "aborted",
      "completed"
    ]);
  });

  it("§5.2.4 the hook gets a message without parts when nothing was said (trap 12)", async () => {
    const { client, stub } = await newAgent([[]]);
    await client.chat("Hi").done;
    const [response] = await runInAgent(stub(), (agent) => structuredClone(agent.responses));
    expect(response?.message.parts.filter(({ type }) => type !== "step-start")).toEqual([]);
    expect(await client.history()).toHaveLength(1);
  });

  it("§5.6 chat(): the end is told before the hook, an error after it, an abort not at all (traps 11, 12, 13)", async () => {
    const { stub, client } = await newAgent(["fine", [text("x"), streamError("boom")], [text("y"), hang()], []]);
    const log: string[] = [];
    const callback = {
      ...silent,
      onDone: () => void log.push("done"),
      onError: (error: string) => void log.push(`error ${error}`)
    };
    await runInAgent(stub(), async (agent) => {
      agent.afterResponse = ({ status }) => void log.push(`hook ${status}`);
      await agent.chat("1", callback);
      await agent.chat("2", callback);
    });
    const third = runInAgent(stub(), (agent) => agent.chat("3", callback));
    await client.waitFor((frame) => frame.body?.includes('"y"') === true);
    await stub().cancelAllChats();
    await third;
    await runInAgent(stub(), (agent) => agent.chat("4", callback));
    expect(log).toEqual(["done", "hook completed", "hook error", "error boom", "hook aborted", "done", "hook completed"]);
  });

  it("§5.6 a caller that fails at the end does not take the hook from the agent", async () => {
    const { stub } = await newAgent(["fine"]);
    const seen = await runInAgent(stub(), async (agent) => {
      const broken = {
        ...silent,
        onDone: () => {
          throw new Error("gone");
        }
      };
      const rejection = await agent.chat("Hi", broken).then(
        () => "resolved",
        (error: Error) => error.message
      );
      return { rejection, hooks: agent.responses.map(({ status }) => status) };
    });
    expect(seen).toEqual({ rejection: "gone", hooks: ["completed"] });
  });

  it("§5.6, §14 row 8 chat() stores nothing in a conversation that was cleared meanwhile", async () => {
    const { stub, client } = await newAgent([[text("Half"), hang()]]);
    const running = runInAgent(stub(), (agent) => agent.recordChat("Hi"));
    await client.waitFor((frame) => frame.body?.includes("Half") === true);
    await stub().clearMessages();
    await running;
    expect(await client.history()).toEqual([]);
    expect(await runInAgent(stub(), (agent) => agent.responses.length)).toBe(0);
  });
});
