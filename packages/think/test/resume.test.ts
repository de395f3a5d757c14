/** Resuming streams: the traps of contract §17 that concern connecting, replay and errors (seed 001 §7, §9). */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  crash,
  evict,
  gate,
  hang,
  runInAgent,
  scriptedModel,
  streamError,
  text,
  throwError,
  userMessage,
  type Script
} from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { useModel } from "./worker/chat-agents";

let counter = 0;

async function newChat(script: Script) {
  const name = `resume-${(counter += 1)}`;
  useModel(name, scriptedModel(script));
  const connect = () => connectChat(exports.default, { agent: "ChatAgent", name });
  const stub = () => env.ChatAgent.getByName(name);
  const rows = () =>
    runInAgent(stub(), async (_agent, { storage }) => ({
      streams: storage.sql.exec("SELECT status FROM cf_ai_chat_stream_metadata").toArray().length,
      alarm: await storage.getAlarm()
    }));
  return { name, connect, stub, rows };
}

describe("connecting", () => {
  it("trap 1: while a stream runs gives the offer and no messages; after it, the messages and no offer", async () => {
    const hold = gate();
    const { connect } = await newChat([[text("a"), hold]]);
    const client = await connect();
    const turn = client.chat("Hi");
    await turn.waitForText("a");
    const during = await connect();
    await during.waitFor((frame) => frame.type === "cf_agent_identity");
    expect(during.frames[0]).toMatchObject({ type: "cf_agent_stream_resuming", id: turn.id });
    expect(during.messages).toEqual([]);
    hold.open();
    await turn.done;
    const after = await connect();
    await after.waitFor((frame) => frame.type === "cf_agent_identity");
    expect(after.frames[0]).toMatchObject({ type: "cf_agent_chat_messages", connect: true });
    expect(after.frames.some((frame) => frame.type === "cf_agent_stream_resuming")).toBe(false);
  });

  it("trap 3: after a turn that failed with nobody there tells the error only through the handshake", async () => {
    const { connect, stub } = await newChat([[text("Half"), streamError("boom")]]);
    await runInAgent(stub(), (agent) => agent.saveMessages([userMessage("Hi")]));
    const client = await connect();
    await client.waitFor((frame) => frame.type === "cf_agent_identity");
    expect(client.frames.some((frame) => frame.type === "cf_agent_use_chat_response")).toBe(false);
    const replay = await (await client.resume())?.done;
    expect(replay).toMatchObject({ text: "Half", error: "boom" });
  });

  it("trap 4: a replayed failure sends the partial content first and the error last, to every tab that asks", async () => {
    const { connect } = await newChat([[text(["Ha", "lf"]), throwError("boom")]]);
    await (await connect()).chat("Hi").done;
    for (const tab of [await connect(), await connect()]) {
      const replay = await (await tab.resume())?.done;
      expect(replay?.frames.every((frame) => frame.replay === true)).toBe(true);
      expect(replay?.text).toBe("Half");
      expect(replay?.frames.at(-1)).toMatchObject({ body: "boom", done: true, error: true });
    }
  });

  it("trap 4: a failure before any content is replayed as just the error", async () => {
    const { connect } = await newChat([throwError("no quota")]);
    await (await connect()).chat("Hi").done;
    const replay = await (await (await connect()).resume())?.done;
    expect(replay?.frames).toHaveLength(1);
    expect(replay?.error).toBe("no quota");
  });

  it("trap 5: a new submit makes the old error history at once, before its turn has said a word", async () => {
    const { connect } = await newChat([throwError("boom"), hang()]);
    const client = await connect();
    await client.chat("Hi").done;
    const stuck = client.chat("Again");
    await stuck.waitForChunk("start");
    const tab = await connect();
    await tab.waitFor((frame) => frame.type === "cf_agent_stream_resuming");
    expect(tab.frames.find((frame) => frame.type === "cf_agent_stream_resuming")?.id).toBe(stuck.id);
    stuck.cancel();
    await stuck.done;
    expect(await tab.resume()).toBeUndefined();
  });

  it("trap 5: a clear makes the old error history", async () => {
    const { connect, stub } = await newChat([throwError("boom")]);
    const client = await connect();
    await client.chat("Hi").done;
    await stub().clearMessages();
    expect(await client.resume()).toBeUndefined();
  });

  it("trap 5: a request that fails before it has a stream is there for those who come back", async () => {
    const { connect } = await newChat(["never"]);
    const client = await connect();
    const huge = { id: "huge", role: "user", parts: [{ type: "data-blob", data: "x".repeat(2_500_000) }] };
    const live = await client.chat([huge as never]).done;
    expect(live.error).toContain("at most 1800000 can be stored");
    const replay = await (await (await connect()).resume())?.done;
    expect(replay?.error).toBe(live.error);
  });

  it("trap 6: an acceptance of another stream neither replays nor opens the gate", async () => {
    const hold = gate();
    const { connect } = await newChat([[text("a"), hold, text("b")]]);
    const client = await connect();
    const turn = client.chat("Hi");
    await turn.waitForText("a");
    const tab = await connect();
    tab.send({ type: "cf_agent_stream_resume_ack", id: "another" });
    hold.open();
    await turn.done;
    await tab.waitFor((frame) => frame.done === true && frame.id === turn.id);
    expect(tab.chunksOf(turn.id)).toEqual([]);
    expect(tab.messages).toHaveLength(2);
  });
});

describe("a stream whose isolate died", () => {
  it("trap 7: leaves no message when nothing was stored of it", async () => {
    const { connect, stub } = await newChat([hang(), "next"]);
    const client = await connect();
    const turn = client.chat("Hi");
    await turn.waitForChunk("start");
    await crash(stub());
    const tab = await connect();
    expect((await (await tab.resume({ request: false }))?.done)?.chunks).toEqual([]);
    expect((await tab.history()).map((message) => message.role)).toEqual(["user"]);
  });

  it("trap 7: is settled before the next turn takes over its rows, although nobody asked for it", async () => {
    const { connect, stub } = await newChat([[text("Half"), hang()], "next"]);
    const client = await connect();
    const turn = client.chat("Hi");
    await turn.waitForText("Half");
    await crash(stub());
    const tab = await connect();
    await tab.chat("Go on").done;
    expect(JSON.stringify(await tab.history())).toMatch(/Hi.*Go on.*Half.*next|Hi.*Half.*Go on.*next/);
  });
});

describe("a stream that is over", () => {
  it("trap 9: had exactly one start chunk, with the id of the stored message", async () => {
    const { connect } = await newChat(["Hello"]);
    const client = await connect();
    const { chunks } = await client.chat("Hi").done;
    const starts = chunks.filter((chunk) => chunk.type === "start");
    expect(starts).toEqual([{ type: "start", messageId: (await client.history())[1]?.id }]);
  });

  it("trap 10: ignores what a provider sends after an error, and stores nothing of an error without content", async () => {
    const { connect } = await newChat([[text("a"), streamError("boom"), text("b")], streamError("again")]);
    const client = await connect();
    expect((await client.chat("Hi").done).text).toBe("a");
    await client.chat("More").done;
    const history = await client.history();
    expect(history.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(history)).not.toContain('"b"');
  });

  it("trap 12: stores nothing of an answer without a word", async () => {
    const { connect } = await newChat([[]]);
    const client = await connect();
    expect((await client.chat("Hi").done).frames.at(-1)).toMatchObject({ outcome: "completed" });
    expect(await client.history()).toHaveLength(1);
  });

  it("trap 38: leaves one record, however many there were, and no alarm", async () => {
    const { connect, rows } = await newChat(["one", streamError("two"), "three"]);
    const client = await connect();
    for (const question of ["1", "2", "3"]) await client.chat(question).done;
    expect(await rows()).toEqual({ streams: 1, alarm: null });
  });
});

it("§2.6 a stream that was stopped between offer and acceptance is replayed as stopped, also after an eviction", async () => {
  const { connect, stub } = await newChat([[text("Half"), hang()]]);
  const client = await connect();
  const turn = client.chat("Hi");
  await turn.waitForText("Half");
  const tab = await connect();
  await tab.waitFor((frame) => frame.type === "cf_agent_stream_resuming");
  turn.cancel();
  await turn.done;
  await evict(stub());
  tab.send({ type: "cf_agent_stream_resume_ack", id: turn.id });
  const end = await tab.waitFor((frame) => frame.replay === true && frame.done === true);
  expect(end).toMatchObject({ id: turn.id, outcome: "aborted" });
});

it("a database of the published package is taken over, with the answer that was under way (decisions 4)", async () => {
  const { connect, stub } = await newChat(["next"]);
  await runInAgent(stub(), (_agent, { storage }) => {
    storage.sql.exec("DROP TABLE IF EXISTS cf_ai_chat_stream_metadata");
    storage.sql.exec("DROP TABLE IF EXISTS cf_ai_chat_stream_chunks");
    storage.sql.exec(
      "CREATE TABLE cf_ai_chat_stream_metadata (id text primary key, request_id text not null, status text not null, created_at integer not null, completed_at integer, message_id text, is_continuation integer)"
    );
    storage.sql.exec(
      "CREATE TABLE cf_ai_chat_stream_chunks (id text primary key, stream_id text not null, body text not null, chunk_index integer not null, created_at integer not null)"
    );
    storage.sql.exec("CREATE INDEX idx_stream_chunks ON cf_ai_chat_stream_chunks (stream_id, chunk_index)");
    storage.sql.exec(
      "INSERT INTO cf_ai_chat_stream_metadata VALUES ('old', 'r0', 'completed', 1, 2, null, 0)"
    );
    storage.sql.exec(
      "INSERT INTO cf_ai_chat_stream_metadata VALUES ('s', 'r1', 'streaming', 3, null, null, 0)"
    );
    const chunk = (delta: string) => JSON.stringify({ type: "text-delta", id: "t", delta });
    const start = JSON.stringify({ type: "start", messageId: "published" });
    const rows = [start, JSON.stringify([chunk("Hal"), chunk("f")])];
    for (const [index, body] of rows.entries())
      storage.sql.exec(
        "INSERT INTO cf_ai_chat_stream_chunks VALUES (?, 's', ?, ?, 3)",
        `c${index}`,
        body,
        index
      );
  });
  await evict(stub());
  const client = await connect();
  expect((await (await client.resume({ request: false }))?.done)?.text).toBe("Half");
  expect(await client.history()).toEqual([
    { id: "published", role: "assistant", parts: [{ type: "text", text: "Half", state: "done" }] }
  ]);
  expect((await client.chat("Go on").done).text).toBe("next");
});
