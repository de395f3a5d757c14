import { crash, gate, runInAgent, text, toolCall } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import {
  accept,
  endlessCollecting,
  followContinuation,
  longCollecting,
  newChat,
  settle
} from "./client-tools-support";

const call = (name: string) => toolCall(name, {}, { id: name });
const answer = (name: string) => ({ toolCallId: name, toolName: name, output: name });
const isResponse = (frame: { readonly type: string }) => frame.type === "cf_agent_use_chat_response";

describe("a client that asks for its continuation", () => {
  it("right after its answer is told to wait and then offered the stream, never refused (§2.6, trap 26)", async () => {
    const { client, ask } = await newChat([call("a"), "Done."]);
    await ask("Go");
    const from = client.frames.length;
    // A busy machine may take its time between two frames of one client.
    using _moment = longCollecting();
    client.toolResult(answer("a"));
    client.send({ type: "cf_agent_stream_resume_request", probeId: "p1" });
    const pending = await client.waitFor("cf_agent_stream_pending", { from });
    const offer = await client.waitFor("cf_agent_stream_resuming", { from });
    expect(pending).toMatchObject({ id: offer.id, probeId: "p1" });
    expect(offer.probeId).toBeUndefined();
    expect((await (await accept(client, offer.id ?? "")).done).text).toBe("Done.");
    expect(client.frames.slice(from).some((frame) => frame.type === "cf_agent_stream_resume_none")).toBe(
      false
    );
  });

  it("within the moment in which answers are collected, waits too (trap 26)", async () => {
    const hold = gate();
    const { client, ask } = await newChat([call("a"), [hold, "Done."]]);
    await ask("Go");
    client.toolResult(answer("a"));
    await client.waitFor("cf_agent_message_updated");
    const turn = await client.resume();
    hold.open();
    expect((await turn?.done)?.text).toBe("Done.");
  });

  it("gets no live chunk between offer and acceptance, and then everything, marked as a continuation (§2.8, §14 row 6)", async () => {
    const hold = gate();
    const { client, connect, ask } = await newChat([call("a"), [text("one "), hold, text("two")]]);
    const other = await connect();
    await ask("Go");
    client.toolResult(answer("a"));
    const offer = await client.waitFor("cf_agent_stream_resuming");
    const position = client.frames.indexOf(offer);
    await other.follow(offer.id ?? "").waitForText("one ");
    expect(client.frames.slice(position).filter(isResponse)).toEqual([]);
    const turn = await accept(client, offer.id ?? "");
    await turn.waitForText("one ");
    hold.open();
    const { text: all, frames } = await turn.done;
    expect(all).toBe("one two");
    expect(frames.filter((frame) => frame.replay)).not.toEqual([]);
    expect(frames.every((frame) => frame.continuation)).toBe(true);
  });

  it("after the crash of its isolate gets the replay with the same mark (§2.6)", async () => {
    const hold = gate();
    const { client, connect, ask, stub } = await newChat([call("a"), [text("half"), hold]]);
    await ask("Go");
    client.toolResult(answer("a"));
    const turn = await followContinuation(client);
    await turn.waitForText("half");
    await crash(stub());
    const next = await connect();
    const { text: replayed, frames } = await (await followContinuation(next)).done;
    expect(replayed).toBe("half");
    expect(frames.every((frame) => frame.continuation && frame.replay)).toBe(true);
  });

  it("is told that none comes when the conversation is cleared (§6.10)", async () => {
    const { client, connect, ask, model } = await newChat([[call("a"), call("b")], "never"]);
    const other = await connect();
    await ask("Go");
    client.toolResult(answer("a"));
    client.send({ type: "cf_agent_stream_resume_request", probeId: "p" });
    await client.waitFor("cf_agent_stream_pending");
    other.clear();
    await client.waitFor("cf_agent_stream_resume_none");
    await settle();
    expect(model.calls).toHaveLength(1);
    expect(await client.history()).toEqual([]);
  });

  it("is told that none comes when the turns are reset in the moment of collecting (§6.10)", async () => {
    const { client, ask, model, stub } = await newChat([call("a"), "never"]);
    await ask("Go");
    using _moment = endlessCollecting();
    client.toolResult(answer("a"));
    await client.waitFor("cf_agent_message_updated");
    await runInAgent(stub(), (agent) => agent.reset());
    await client.waitFor("cf_agent_stream_resume_none");
    await settle();
    expect(model.calls).toHaveLength(1);
  });
});

describe("the owner of a continuation", () => {
  it("may leave at once: the continuation runs all the same (trap 27)", async () => {
    const { client, connect, ask, leave } = await newChat([call("a"), "Done."]);
    const other = await connect();
    await ask("Go");
    client.toolResult(answer("a"));
    await client.waitFor("cf_agent_message_updated");
    await leave(client);
    const end = await other.waitFor({ continuation: true, done: true });
    expect((await other.follow(end.id ?? "").done).text).toBe("Done.");
    expect((await other.history()).map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "assistant"
    ]);
  });

  it("is the only one who may resume it, while others get it live and nothing to resume afterwards (§2.6, trap 28)", async () => {
    const hold = gate();
    const { client, connect, ask } = await newChat([call("a"), [text("one "), hold, text("two")]]);
    const other = await connect();
    await ask("Go");
    client.toolResult(answer("a"));
    const turn = await followContinuation(client);
    await turn.waitForText("one ");
    const from = other.frames.length;
    other.send({ type: "cf_agent_stream_resume_request", probeId: "p2" });
    const refusal = await other.waitFor("cf_agent_stream_resume_none", { from });
    expect(refusal).toMatchObject({ reason: "continuation-owned", probeId: "p2" });
    hold.open();
    await turn.done;
    const seen = await other.follow(turn.id).done;
    expect(seen.text).toBe("one two");
    expect(seen.frames.every((frame) => frame.continuation && !frame.replay)).toBe(true);
    expect(await other.resume({ probeId: "p3" })).toBeUndefined();
    expect(other.frames.at(-1)).toMatchObject({ reason: "idle", probeId: "p3" });
  });

  it("gives it free when it leaves: then anyone may resume (§7.6)", async () => {
    const hold = gate();
    const { client, connect, ask, leave } = await newChat([call("a"), [text("one "), hold, text("two")]]);
    const other = await connect();
    await ask("Go");
    client.toolResult(answer("a"));
    const turn = await followContinuation(client);
    await turn.waitForText("one ");
    await leave(client);
    const resumed = await other.resume();
    expect(resumed?.id).toBe(turn.id);
    hold.open();
    expect((await resumed?.done)?.text).toBe("one two");
  });

  it("may come back under its id before its old socket is found dead, and is no stranger when that closes (§2.6, §2.8)", async () => {
    const [first, second] = [gate(), gate()];
    const script = [text("one "), first, text("two "), second, text("three")];
    const { ask, client, connect, leave } = await newChat([call("a"), script], "tab-1");
    const other = await connect();
    await ask("Go");
    client.toolResult(answer("a"));
    const turn = await followContinuation(client);
    await turn.waitForText("one ");
    const back = await connect("tab-1");
    const offer = await back.waitFor("cf_agent_stream_resuming");
    expect(offer.id).toBe(turn.id);
    await leave(client);
    first.open();
    await other.follow(turn.id).waitForText("two ");
    expect(back.frames.filter(isResponse)).toEqual([]);
    const resumed = await accept(back, turn.id);
    await resumed.waitForText("two ");
    const refused = other.frames.length;
    other.send({ type: "cf_agent_stream_resume_request", probeId: "p" });
    expect(await other.waitFor("cf_agent_stream_resume_none", { from: refused })).toMatchObject({
      reason: "continuation-owned"
    });
    second.open();
    expect((await resumed.done).text).toBe("one two three");
  });

  it("of a waiting continuation gives it free too, and who asks then is held (§2.6)", async () => {
    const { client, connect, ask, leave } = await newChat([[call("a"), call("b")], "Both."]);
    await ask("Go");
    client.toolResult(answer("a"));
    await client.waitFor("cf_agent_message_updated");
    const other = await connect();
    expect(await other.resume()).toBeUndefined();
    await leave(client);
    const third = await connect();
    third.send({ type: "cf_agent_stream_resume_request", probeId: "p" });
    await third.waitFor({ type: "cf_agent_stream_pending", probeId: "p" });
    other.toolResult({ ...answer("b"), autoContinue: false });
    expect((await (await followContinuation(third)).done).text).toBe("Both.");
  });
});
