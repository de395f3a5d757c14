/**
 * Hostile sockets (issue: bad input). Every frame type, mutated structure-aware and seeded: nothing is thrown out of a handler, an invalid frame
 * changes nothing, and the next turn works.
 */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  gate,
  runInAgent,
  scriptedModel,
  toolCall,
  userMessage
} from "@cloudflare/think/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseClientFrame } from "../src/protocol/parse";
import { newLoop } from "./loop-support";
import { useModel } from "./worker/chat-agents";
import { addTool } from "./worker/loop-agents";

let counter = 0;

/** An agent with a little history, whose handler's throws are recorded. */
async function newChat() {
  const name = `hostile-${(counter += 1)}`;
  useModel(name, scriptedModel([[toolCall("add", { a: 1, b: 2 })], "3", "still here"]));
  const client = await connectChat(exports.default, { agent: "ChatAgent", name });
  await client.chat("1 + 2?").done;
  const stub = env.ChatAgent.getByName(name);
  const thrown: string[] = [];
  await runInAgent(stub, (agent) => {
    const onMessage = agent.onMessage;
    agent.onMessage = async (connection, message) => {
      try {
        await onMessage.call(agent, connection, message);
      } catch (error) {
        thrown.push(String(error));
      }
    };
  });
  const state = () =>
    runInAgent(stub, (_agent, { storage }) =>
      ["assistant_messages", "think_config", "cf_ai_chat_stream_metadata"].map((table) =>
        JSON.stringify(storage.sql.exec(`SELECT * FROM ${table}`).toArray())
      )
    );
  return { client, state, thrown };
}

/** One valid frame of each type. */
const templates: readonly Record<string, unknown>[] = [
  {
    type: "cf_agent_use_chat_request",
    id: "r",
    init: { method: "POST", body: JSON.stringify({ messages: [userMessage("x")] }) }
  },
  { type: "cf_agent_chat_request_cancel", id: "r" },
  { type: "cf_agent_tool_result", toolCallId: "c", toolName: "add", output: 1, autoContinue: true },
  { type: "cf_agent_tool_approval", toolCallId: "c", approved: true, autoContinue: true },
  { type: "cf_agent_stream_resume_request", probeId: "p" },
  { type: "cf_agent_stream_resume_ack", id: "r" },
  { type: "cf_agent_chat_messages", messages: [] },
  { type: "cf_agent_use_chat_response", id: "r", body: "", done: true },
  { type: "cf_agent_chat_recovering", recovering: true },
  { type: "cf_agent_message_updated", message: userMessage("x") },
  { type: "cf_agent_chat_clear", extra: true },
  { type: "cf_agent_stream_resuming", id: "r" },
  { type: "cf_agent_stream_resume_none" },
  { type: "cf_agent_stream_pending", id: "r" }
];

const wrong = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, -1, Number.MAX_VALUE, "", "\ud800", "x".repeat(5_000), [], {}, [[[[]]]], {
    __proto__: null
  })
);

/** A template with some fields replaced, removed or added; the body of a request is mutated inside. */
const mutated = fc
  .record({
    template: fc.constantFrom(...templates),
    changes: fc.dictionary(
      fc.constantFrom(
        "id",
        "init",
        "toolCallId",
        "toolName",
        "output",
        "approved",
        "state",
        "clientTools",
        "probeId",
        "messages",
        "extra"
      ),
      wrong,
      { minKeys: 1, maxKeys: 4 }
    ),
    drop: fc.option(fc.constantFrom("id", "init", "toolCallId", "approved"), { nil: undefined }),
    body: fc.option(fc.dictionary(fc.constantFrom("messages", "trigger", "clientTools", "custom"), wrong), {
      nil: undefined
    })
  })
  .map(({ template, changes, drop, body }) => {
    const frame: Record<string, unknown> = { ...template, ...changes };
    if (drop) delete frame[drop];
    if (body && frame.init !== undefined) frame.init = { method: "POST", body: JSON.stringify(body) };
    return JSON.stringify(frame);
  })
  // A frame that is valid by chance may do something; only the others must do nothing.
  .filter((frame) => {
    const parsed = parseClientFrame(frame);
    return (
      parsed.kind !== "frame" ||
      !["cf_agent_use_chat_request", "cf_agent_chat_clear"].includes(parsed.frame.type)
    );
  });

describe("a hostile client", () => {
  it(
    "cannot make a handler throw or change anything with frames that are not valid",
    { timeout: 60_000 },
    async () => {
      const { client, state, thrown } = await newChat();
      const before = await state();
      for (const frame of fc.sample(mutated, { numRuns: 1_500, seed: 20_261_118 })) client.send(frame);
      await client.resume({ probeId: "all were handled" });
      expect(await state()).toEqual(before);
      expect(thrown).toEqual([]);
      expect((await client.chat("Are you there?").done).text).toBe("still here");
    }
  );

  it("gets a clear error for a body that is nested too deeply or carries prototype keys", async () => {
    const { client, state } = await newChat();
    const before = await state();
    const send = (id: string, body: string) => {
      client.send({ type: "cf_agent_use_chat_request", id, init: { method: "POST", body } });
      return client.follow(id).done;
    };
    expect(
      (await send("deep", `{"messages":[],"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)).error
    ).toContain("nested deeper");
    expect((await send("proto", '{"messages":[],"__proto__":{"admin":true}}')).error).toContain(
      "prototype key"
    );
    expect((await send("trigger", '{"messages":[],"trigger":"root"}')).error).toContain("trigger");
    expect(await state()).toEqual(before);
  });

  it(
    "can send 100,000 parts: they are refused with the limit, and the object goes on",
    { timeout: 60_000 },
    async () => {
      const { client } = await newChat();
      const parts = Array.from({ length: 100_000 }, () => ({ type: "data-x", data: 1 }));
      const { error } = await client.chat([{ id: "many", role: "user", parts } as never]).done;
      expect(error).toMatch(/at most 1800000 can be stored/);
      expect((await client.chat("Still?").done).text).toBe("still here");
    }
  );

  it(
    "can send 100,000 parts that fit into a row: they are stored, and the turn and the next one work",
    { timeout: 60_000 },
    async () => {
      const { client } = await newChat();
      const parts = [{ type: "text", text: "Hi" }, ...Array.from({ length: 100_000 }, () => ({ type: "x" }))];
      expect((await client.chat([{ id: "small", role: "user", parts } as never]).done).text).toBe(
        "still here"
      );
      expect((await client.history()).find(({ id }) => id === "small")?.parts).toHaveLength(100_001);
    }
  );

  it("gets an error for a list that is too long, for ids that are too long and for roles that do not exist", async () => {
    const { client, state } = await newChat();
    const before = await state();
    const errorOf = async (messages: unknown) => (await client.chat(messages as never).done).error;
    const many = Array.from({ length: 10_001 }, (_, index) => ({ id: `m${index}`, role: "user", parts: [] }));
    expect(await errorOf(many)).toMatch(/10,?000|messages/);
    expect(await errorOf([{ id: "i".repeat(201), role: "user", parts: [] }])).toMatch(/id/);
    expect(await errorOf([{ id: "r", role: "root", parts: [] }])).toMatch(/role/);
    expect(await errorOf([{ id: "p", role: "user", parts: "none" }])).toMatch(/parts/);
    expect(await errorOf({ not: "a list" })).toMatch(/messages/);
    expect(await state()).toEqual(before);
  });

  it("cannot put words into a server tool's mouth: a result for a call that runs on the server is not taken", async () => {
    const hold = gate();
    const add = addTool(async () => {
      await hold.wait();
      return { sum: 3 };
    });
    const { client, model, history } = await newLoop(
      [toolCall("add", { a: 1, b: 2 }, { id: "c" }), "Three."],
      {
        tools: { add }
      }
    );
    const turn = client.chat("1 + 2?");
    await turn.waitForChunk("tool-input-available");
    client.toolResult({ toolCallId: "c", toolName: "add", output: { sum: 666 } });
    client.toolApproval("c", false);
    await client.resume({ probeId: "handled" });
    hold.open();
    expect((await turn.done).text).toBe("Three.");
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"sum":3');
    const stored = JSON.stringify(await history());
    expect(stored).toContain('"sum":3');
    expect(stored).not.toContain("666");
    expect(stored).not.toContain("denied");
  });

  it("can send lone surrogates and the same id twice: both are stored as sent, once", async () => {
    const { client } = await newChat();
    const odd = userMessage("half a pair: \ud800", "odd");
    await client.chat([odd, userMessage("first", "twice"), userMessage("second", "twice")]).done;
    const history = await client.history();
    expect(history.find((message) => message.id === "odd")).toEqual(odd);
    expect(history.filter((message) => message.id === "twice")).toEqual([userMessage("second", "twice")]);
  });
});
