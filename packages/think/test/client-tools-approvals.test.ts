import { evict, gate, runInAgent, toolCall } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { followContinuation, newChat, settle, toolParts } from "./client-tools-support";

const guarded = (name: string, id = name) => toolCall(name, {}, { id });

describe("a server tool that needs approval", () => {
  it("waits unexecuted, and keeps nothing awake (§7.7)", async () => {
    const { client, ask, record, model, stub } = await newChat([guarded("wipe"), "never"]);
    await ask("Go");
    expect((await toolParts(client)).wipe).toMatchObject({
      state: "approval-requested",
      approval: { id: expect.any(String) }
    });
    await settle();
    expect(await record()).toMatchObject({ executed: [], events: [] });
    expect(model.calls).toHaveLength(1);
    expect(await runInAgent(stub(), (_agent, state) => state.storage.getAlarm())).toBeNull();
  });

  it("runs once when approved; its output is in the original message before the continuation ends (§5.4, §7.7, trap 29)", async () => {
    const { client, connect, ask, record, model } = await newChat([guarded("wipe"), "All clean."]);
    const other = await connect();
    await ask("Go");
    const asked = (await toolParts(client)).wipe;
    const [, original] = await client.history();
    client.toolApproval("wipe", true);
    const approved = await client.waitFor("cf_agent_message_updated");
    expect(approved.message?.parts).toContainEqual(
      expect.objectContaining({
        state: "approval-responded",
        approval: { ...(asked?.approval as object), approved: true }
      })
    );
    expect((await (await followContinuation(client)).done).text).toBe("All clean.");
    const isOutput = (frame: (typeof other.frames)[number]) =>
      frame.type === "cf_agent_message_updated" &&
      JSON.stringify(frame.message).includes('"output":{"wiped":true}');
    const output = await other.waitFor(isOutput);
    const end = await other.waitFor({ continuation: true, done: true });
    expect(output.message?.id).toBe(original?.id);
    expect(other.frames.indexOf(output)).toBeLessThan(other.frames.indexOf(end));
    expect((await toolParts(client)).wipe).toMatchObject({
      state: "output-available",
      output: { wiped: true }
    });
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"wiped":true');
    expect(await record()).toMatchObject({ executed: ["wipe"], continuations: 1, events: [] });
    expect((await client.history()).map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "assistant"
    ]);
  });

  it("runs once when approved after an eviction (§7.7)", async () => {
    const { client, ask, record, stub } = await newChat([guarded("wipe"), "All clean."]);
    await ask("Go");
    await evict(stub());
    client.toolApproval("wipe", true);
    await (
      await followContinuation(client)
    ).done;
    expect(await record()).toMatchObject({ executed: ["wipe"], continuations: 1, events: [] });
  });

  it("that throws leaves its error on the original call (trap 29)", async () => {
    const { client, ask, record } = await newChat([guarded("explode"), "Too bad."]);
    await ask("Go");
    client.toolApproval("explode", true);
    expect((await (await followContinuation(client)).done).text).toBe("Too bad.");
    expect((await toolParts(client)).explode).toMatchObject({ state: "output-error", errorText: "no fuse" });
    expect(await record()).toMatchObject({ executed: ["explode"], events: [] });
  });

  it("is never executed when denied, and the model is told (§7.7, trap 29)", async () => {
    const { client, ask, record } = await newChat([guarded("wipe"), "As you wish."]);
    await ask("Go");
    client.toolApproval("wipe", false);
    expect((await (await followContinuation(client)).done).text).toBe("As you wish.");
    expect((await toolParts(client)).wipe).toMatchObject({
      state: "output-denied",
      approval: { approved: false }
    });
    expect(await record()).toMatchObject({ executed: [], continuations: 1, events: [] });
  });

  it("stays as it was answered: a second thought comes too late (trap 30)", async () => {
    const { client, ask, record } = await newChat([guarded("wipe"), "As you wish."]);
    await ask("Go");
    client.toolApproval("wipe", false);
    await (
      await followContinuation(client)
    ).done;
    client.toolApproval("wipe", true);
    client.toolResult({ toolCallId: "wipe", toolName: "wipe", output: "forged" });
    await settle();
    expect((await toolParts(client)).wipe).toMatchObject({ state: "output-denied" });
    expect(await record()).toMatchObject({ executed: [], continuations: 1 });
  });

  it("does not continue when the client does not ask for it (§7.3)", async () => {
    const { client, ask, model } = await newChat([guarded("wipe"), "never"]);
    await ask("Go");
    client.toolApproval("wipe", true, { autoContinue: false });
    await client.waitFor("cf_agent_message_updated");
    await settle();
    expect(model.calls).toHaveLength(1);
    expect((await toolParts(client)).wipe).toMatchObject({ state: "approval-responded" });
  });

  it("can be approved in mid-stream (trap 24)", async () => {
    const hold = gate();
    const { client, ask, record } = await newChat([[guarded("wipe"), hold], "All clean."]);
    const turn = ask("Go");
    await client.waitFor((frame) => frame.body?.includes("tool-approval-request") === true);
    client.toolApproval("wipe", true);
    await client.waitFor("cf_agent_message_updated");
    const from = client.frames.length;
    hold.open();
    await turn;
    await (
      await followContinuation(client, from)
    ).done;
    expect((await toolParts(client)).wipe).toMatchObject({ state: "output-available" });
    expect(await record()).toMatchObject({ executed: ["wipe"], continuations: 1, events: [] });
  });

  it("shows preliminary outputs of an approved call, and stores the final one (§5.4)", async () => {
    const { client, ask } = await newChat([guarded("count"), "Counted."]);
    await ask("Go");
    client.toolApproval("count", true);
    await (
      await followContinuation(client)
    ).done;
    const outputs = client.frames
      .flatMap((frame) => (frame.type === "cf_agent_message_updated" ? (frame.message?.parts ?? []) : []))
      .flatMap((part) =>
        "output" in part && part.state === "output-available" ? [[part.output, part.preliminary]] : []
      );
    expect(outputs).toContainEqual([1, true]);
    expect(outputs.at(-1)).toEqual([2, false]);
    expect((await toolParts(client)).count).toMatchObject({
      state: "output-available",
      output: 2,
      preliminary: false
    });
  });

  it("executes each of several approved calls, and not the denied one (§7.5, §7.7)", async () => {
    const { client, ask, record } = await newChat([
      [guarded("wipe", "one"), guarded("wipe", "two"), guarded("wipe", "three")],
      "Done."
    ]);
    await ask("Go");
    client.toolApproval("one", true);
    client.toolApproval("two", false);
    await settle();
    expect((await record()).executed).toEqual([]);
    client.toolApproval("three", true);
    await (
      await followContinuation(client)
    ).done;
    expect(await toolParts(client)).toMatchObject({
      one: { state: "output-available" },
      two: { state: "output-denied" },
      three: { state: "output-available" }
    });
    expect(await record()).toMatchObject({ executed: ["wipe", "wipe"], continuations: 1, events: [] });
  });
});
