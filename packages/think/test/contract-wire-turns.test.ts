/** Contract §3–§5, fact by fact, where no other file proves it: the turn machinery, requests and endings. */
import { gate, hang, runInAgent, streamError, text, userMessage } from "@cloudflare/think/testing";
import { getCurrentAgent } from "agents";
import { describe, expect, it } from "vitest";
import { newAgent, responses, silent, streamOf, texts } from "./contract-wire-support";
import { useTurnModel } from "./worker/turn-agents";
import { WORKSPACE_TOOLS } from "./workspace-names";

describe("turns (§3, §4)", () => {
  it("§3.1 run one at a time and in order, whatever door they came through", async () => {
    const hold = gate();
    const { client, stub, model } = await newAgent(["zero", [hold, "one"], "two", "three", "four"]);
    await client.chat("0").done;
    const first = runInAgent(stub(), (agent) => agent.continueNow());
    await hold.reached;
    const rest = runInAgent(stub(), async (agent) => {
      await Promise.all([agent.chat("2", silent), agent.saveMessages([userMessage("3")])]);
    });
    const last = client.chat("4");
    await client.resume();
    expect(model.calls).toHaveLength(2);
    hold.open();
    await Promise.all([first, rest, last.done]);
    const said = await runInAgent(stub(), (agent) => texts(agent.responses.map(({ message }) => message)));
    expect(said).toEqual(["zero", "one", "two", "three", "four"]);
  });

  it("§3.2 of the same id are each cancelled by it", async () => {
    const hold = gate();
    const { client } = await newAgent([
      [hold, "first"],
      [text("second"), hang()]
    ]);
    const first = client.chat("1", { id: "same" });
    client.chat("2", { id: "same" });
    await client.resume();
    hold.open();
    await first.done;
    const from = client.frames.findIndex((frame) => frame.id === "same" && frame.done === true) + 1;
    await client.waitFor((frame) => frame.body?.includes("second") === true, { from });
    client.send({ type: "cf_agent_chat_request_cancel", id: "same" });
    expect(await client.waitFor({ id: "same", done: true }, { from })).toMatchObject({ outcome: "aborted" });
  });

  it("§3.2 cancelled while they wait ask no model and end as aborted", async () => {
    const hold = gate();
    const { client, model, stub } = await newAgent([[hold, "one"], "never"]);
    const first = client.chat("1");
    await first.waitForChunk("start");
    const second = client.chat("2");
    second.cancel();
    await client.resume();
    hold.open();
    expect((await second.done).frames.at(-1)).toMatchObject({ done: true, outcome: "aborted" });
    await client.resume();
    expect(model.calls).toHaveLength(1);
    expect(texts(await stub().getMessages()).toSorted()).toEqual(["1", "2", "one"]);
    const statuses = await runInAgent(stub(), (agent) => agent.responses.map(({ status }) => status));
    expect(statuses).toEqual(["completed", "aborted"]);
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
      [{ page: 1 }, [...WORKSPACE_TOOLS, "a"]],
      [{ page: 2 }, [...WORKSPACE_TOOLS, "b"]],
      [undefined, [...WORKSPACE_TOOLS]]
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
      emitted: agent.events.filter(({ type }) => type === "chat:request:failed").map(({ payload }) => payload)
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
    const { client, stub } = await newAgent(["first", "never", "next"]);
    const table = "cf_ai_chat_stream_metadata";
    await client.chat("Hello").done;
    await runInAgent(stub(), (_agent, { storage }) => {
      storage.sql.exec(
        `CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'disk full'); END`
      );
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

  it("§5.1.4, §5.7 an error chunk ends the reading: what follows is not asked for, and the source is closed", async () => {
    const { client, override } = await newAgent(["unused"]);
    const log: string[] = [];
    await override({
      _transformInferenceResult: () => ({
        async *toUIMessageStream() {
          try {
            yield { type: "error", errorText: "boom" } as const;
            log.push("asked for more");
          } finally {
            log.push("closed");
          }
        }
      })
    });
    expect((await client.chat("Hi").done).error).toBe("boom");
    await client.resume();
    expect(log).toEqual(["closed"]);
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
    const { stub, client } = await newAgent([
      "fine",
      [text("x"), streamError("boom")],
      [text("y"), hang()],
      []
    ]);
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
    expect(log).toEqual([
      "done",
      "hook completed",
      "hook error",
      "error boom",
      "hook aborted",
      "done",
      "hook completed"
    ]);
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
