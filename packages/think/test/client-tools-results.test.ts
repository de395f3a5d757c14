import {
  countRowsOf,
  crash,
  evict,
  gate,
  runInAgent,
  text,
  throwError,
  toolCall,
  userMessage
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { accept, CLIENT_TOOLS, followContinuation, newChat, settle, toolParts } from "./client-tools-support";

const call = (name: string) => toolCall(name, { of: name }, { id: name });

describe("the answer of a client tool", () => {
  it("is stored, told to every tab, and lets the model go on in a message of its own (§7.1, §7.3, §7.6)", async () => {
    const { client, connect, ask, model, record } = await newChat([call("a"), "It is 7."]);
    const other = await connect();
    await ask("Go");
    expect(model.calls[0]?.toolNames).toContain("a");
    client.toolResult({ toolCallId: "a", toolName: "a", output: { value: 7 } });
    const updated = { type: "cf_agent_message_updated" };
    for (const tab of [client, other]) {
      const { message } = await tab.waitFor(updated);
      expect(message?.parts).toContainEqual(
        expect.objectContaining({
          toolCallId: "a",
          state: "output-available",
          output: { value: 7 },
          preliminary: false
        })
      );
    }
    const turn = await followContinuation(client);
    const { frames, text: answer } = await turn.done;
    expect(answer).toBe("It is 7.");
    expect(frames.every((frame) => frame.continuation)).toBe(true);
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"value":7');
    expect(model.calls[1]?.toolNames).toEqual(expect.arrayContaining(["a", "b", "c"]));
    const stored = await client.history();
    expect(stored.map((message) => message.role)).toEqual(["user", "assistant", "assistant"]);
    expect(stored[2]?.id).not.toBe(stored[1]?.id);
    expect(await record()).toMatchObject({
      continuations: 1,
      errors: [],
      responses: [{ continuation: false }, { continuation: true }]
    });
  });

  it("may be an error, with the client's text or a standard one (§7.2)", async () => {
    const { client, ask } = await newChat([[call("a"), call("b")], "Sorry."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", errorText: "no camera" });
    client.send({ type: "cf_agent_tool_result", toolCallId: "b", state: "output-error", autoContinue: true });
    await (
      await followContinuation(client)
    ).done;
    expect(await toolParts(client)).toMatchObject({
      a: { state: "output-error", errorText: "no camera" },
      b: { state: "output-error", errorText: "Tool execution denied by user" }
    });
  });

  it("changes nothing when the call is unknown or settled: no write, no frame, no continuation (§7.2, trap 30)", async () => {
    const { client, ask, stub, model } = await newChat([call("a"), "Done."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    await (
      await followContinuation(client)
    ).done;
    const before = await client.history();
    const from = client.frames.length;
    const cost = await countRowsOf(stub(), async () => {
      for (const toolCallId of ["a", "unknown"]) client.toolResult({ toolCallId, toolName: "a", output: 2 });
      client.toolApproval("a", true);
      client.toolApproval("a", false);
      client.send({ type: "cf_agent_stream_resume_request", probeId: "p" });
      await client.waitFor({ type: "cf_agent_stream_resume_none", probeId: "p" }, { from });
    });
    expect(cost.totalWritten).toBe(0);
    await settle();
    expect(client.frames.slice(from).filter((frame) => frame.type !== "cf_agent_stream_resume_none")).toEqual(
      []
    );
    expect(await client.history()).toEqual(before);
    expect(model.calls).toHaveLength(2);
  });

  it("may be malformed: nothing happens, and the object goes on", async () => {
    const { client, ask } = await newChat([call("a"), "Done."]);
    await ask("Go");
    for (const frame of [
      { type: "cf_agent_tool_result" },
      { type: "cf_agent_tool_result", toolCallId: { a: 1 }, output: 1 },
      { type: "cf_agent_tool_result", toolCallId: "x".repeat(1_000), output: 1 },
      { type: "cf_agent_tool_approval", toolCallId: "a", approved: 1 },
      '{"type":"cf_agent_tool_result","toolCallId":"a","output":{"__proto__":{"x":1}}}'
    ]) {
      client.send(frame);
    }
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    expect((await (await followContinuation(client)).done).text).toBe("Done.");
  });

  it("becomes an error result when it is too large to be read", async () => {
    const { client, ask } = await newChat([call("a"), "Too much."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: "x".repeat(9_000_000) });
    await (
      await followContinuation(client)
    ).done;
    expect((await toolParts(client)).a).toMatchObject({
      state: "output-error",
      errorText: expect.stringContaining("8 MiB")
    });
  });

  it("reaches a streaming message, and is there when that is stored (trap 24)", async () => {
    const hold = gate();
    const { client, ask, connect, record } = await newChat([
      [call("a"), hold, text("while you work")],
      "Done."
    ]);
    const turn = ask("Go");
    await hold.reached;
    await client.waitFor((frame) => frame.body?.includes("tool-input-available") === true);
    client.toolResult({ toolCallId: "a", toolName: "a", output: 7 });
    await client.waitFor("cf_agent_message_updated");
    const late = await connect();
    const joined = await late.resume({ request: false });
    await joined?.waitForChunk("tool-output-available");
    const from = client.frames.length;
    hold.open();
    await turn;
    await (
      await followContinuation(client, from)
    ).done;
    expect((await toolParts(client)).a).toMatchObject({ state: "output-available", output: 7 });
    expect(await record()).toMatchObject({ continuations: 1, events: [] });
  });

  it("to a streaming message survives a crash (trap 24)", async () => {
    const hold = gate();
    const { client, ask, stub, connect } = await newChat([[call("a"), hold]]);
    void ask("Go");
    await hold.reached;
    await client.waitFor((frame) => frame.body?.includes("tool-input-available") === true);
    client.toolResult({ toolCallId: "a", toolName: "a", output: 7, autoContinue: false });
    await client.waitFor("cf_agent_message_updated");
    await crash(stub());
    const next = await connect();
    await (
      await next.resume({ request: false })
    )?.done;
    expect((await toolParts(next)).a).toMatchObject({ state: "output-available", output: 7 });
  });

  it("finds a call whose stream was orphaned by an eviction (§7.5)", async () => {
    const hold = gate();
    const { client, ask, stub, connect, model } = await newChat([[call("a"), hold]]);
    void ask("Go");
    await hold.reached;
    await client.waitFor((frame) => frame.body?.includes("tool-input-available") === true);
    await crash(stub());
    model.push("Done.");
    const next = await connect();
    next.toolResult({ toolCallId: "a", toolName: "a", output: 7 });
    const offers = () => next.frames.filter((frame) => frame.type === "cf_agent_stream_resuming");
    await next.waitFor(() => offers().length === 2);
    expect((await (await accept(next, offers()[1]?.id ?? "")).done).text).toBe("Done.");
    expect((await toolParts(next)).a).toMatchObject({ state: "output-available", output: 7 });
  });
});

describe("a batch of calls", () => {
  it("is continued once when all results arrive at once, and none overwrites another (trap 19)", async () => {
    const { client, ask, record } = await newChat([[call("a"), call("b"), call("c")], "All in."]);
    await ask("Go");
    for (const id of ["a", "b", "c"]) client.toolResult({ toolCallId: id, toolName: id, output: id });
    await (
      await followContinuation(client)
    ).done;
    await settle();
    const parts = await toolParts(client);
    for (const id of ["a", "b", "c"])
      expect(parts[id]).toMatchObject({ state: "output-available", output: id });
    expect(await record()).toMatchObject({ continuations: 1, events: [] });
  });

  it.each([
    [
      "a client tool",
      call("b"),
      (client: Client) => client.toolResult({ toolCallId: "b", toolName: "b", output: 2 })
    ],
    [
      "a dynamic tool",
      toolCall("b", {}, { id: "b", dynamic: true }),
      (client: Client) => client.toolResult({ toolCallId: "b", toolName: "b", output: 2 })
    ],
    ["an approval", toolCall("wipe", {}, { id: "b" }), (client: Client) => client.toolApproval("b", true)]
  ])(
    "waits for its last member, however long, when that is %s (§7.5, trap 20)",
    async (_name, sibling, answer) => {
      const { client, ask, model, record } = await newChat([[call("a"), sibling], "Both."]);
      await ask("Go");
      client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
      await client.waitFor("cf_agent_message_updated");
      await settle();
      expect(model.calls).toHaveLength(1);
      answer(client);
      expect((await (await followContinuation(client)).done).text).toContain("Both.");
      expect(await record()).toMatchObject({ continuations: 1, events: [] });
    }
  );

  it("is continued when the last member fails without asking for it, because another one has (trap 21)", async () => {
    const { client, ask, record } = await newChat([[call("a"), call("b")], "So be it."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    client.toolResult({ toolCallId: "b", toolName: "b", errorText: "broken" });
    await (
      await followContinuation(client)
    ).done;
    await settle();
    expect((await record()).continuations).toBe(1);
  });

  it("is not continued when nobody asked for it (trap 21)", async () => {
    const { client, ask, model } = await newChat([call("a"), "never"]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", errorText: "broken" });
    await client.waitFor("cf_agent_message_updated");
    expect(await client.resume()).toBeUndefined();
    await settle();
    expect(model.calls).toHaveLength(1);
  });

  it("keeps nothing awake while a member is missing, and is completed by another tab after a disconnect (trap 22)", async () => {
    const hold = gate();
    const { client, connect, ask, leave, stub, model, record } = await newChat([
      [call("a"), call("b")],
      [hold, "Both."]
    ]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    await client.waitFor("cf_agent_message_updated");
    await leave(client);
    const alarm = () => runInAgent(stub(), (_agent, state) => state.storage.getAlarm());
    // The turn before may still be tidying up.
    await vi.waitFor(async () => expect(await alarm()).toBeNull());
    await settle();
    expect(await alarm()).toBeNull();
    expect(model.calls).toHaveLength(1);
    const other = await connect();
    other.toolResult({ toolCallId: "b", toolName: "b", errorText: "late" });
    const turn = await other.resume();
    hold.open();
    expect((await turn?.done)?.text).toBe("Both.");
    expect((await record()).continuations).toBe(1);
  });

  it("is continued after an eviction by the result that completes it (§7.5, trap 23)", async () => {
    const { client, ask, stub, model } = await newChat([[call("a"), call("b")], "Both."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: "first" });
    await client.waitFor("cf_agent_message_updated");
    await evict(stub());
    client.toolResult({ toolCallId: "b", toolName: "b", output: "second" });
    await (
      await followContinuation(client)
    ).done;
    await settle();
    expect(model.calls).toHaveLength(2);
    expect(JSON.stringify(model.calls[1]?.prompt)).toMatch(/first.*second/u);
  });

  it("is not continued before the stream has ended and late members are answered (trap 25)", async () => {
    const hold = gate();
    const { client, ask, model } = await newChat([[call("a"), hold, call("b")], "Both."]);
    const turn = ask("Go");
    await hold.reached;
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    await settle();
    hold.open();
    await turn;
    await settle();
    expect(model.calls).toHaveLength(1);
    client.toolResult({ toolCallId: "b", toolName: "b", output: 2 });
    await (
      await followContinuation(client)
    ).done;
    expect(model.calls).toHaveLength(2);
  });

  it("is continued once, by itself, when all members were answered in mid-stream (trap 25)", async () => {
    const hold = gate();
    const { client, ask, model, record } = await newChat([[call("a"), call("b"), hold], "Both."]);
    const turn = ask("Go");
    await hold.reached;
    for (const id of ["a", "b"]) client.toolResult({ toolCallId: id, toolName: id, output: id });
    await settle();
    const from = client.frames.length;
    hold.open();
    await turn;
    await (
      await followContinuation(client, from)
    ).done;
    await settle();
    expect(model.calls).toHaveLength(2);
    expect(await record()).toMatchObject({ continuations: 1, events: [] });
  });
});

type Client = Awaited<ReturnType<typeof newChat>>["client"];

describe("a continuation", () => {
  it("calls for further tools, answered in mid-stream, and goes on after itself (§7.4)", async () => {
    const hold = gate();
    const { client, ask, record } = await newChat([call("a"), [call("b"), hold], "Finished."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    const first = await followContinuation(client);
    await hold.reached;
    client.toolResult({ toolCallId: "b", toolName: "b", output: 2 });
    const from = client.frames.length;
    hold.open();
    await first.done;
    expect((await (await followContinuation(client, from)).done).text).toBe("Finished.");
    expect(await record()).toMatchObject({ continuations: 2, events: [] });
  });

  it("that fails is reported like any failed turn, live and to those who come back (§7.6)", async () => {
    const { client, ask, connect, record } = await newChat([call("a"), throwError("no quota")]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    const { error, frames } = await (await followContinuation(client)).done;
    expect(error).toBe("no quota");
    expect(frames.at(-1)).toMatchObject({ done: true, error: true, continuation: true });
    expect(await record()).toMatchObject({
      errors: ["no quota"],
      events: expect.arrayContaining(["chat:request:failed"])
    });
    const returning = await connect();
    expect((await (await returning.resume())?.done)?.error).toBe("no quota");
  });

  it("does not come when the user types on meanwhile: that turn has told the model (§7.5)", async () => {
    const { client, ask, model } = await newChat([[call("a"), call("b")], "As you like."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    client.send({ type: "cf_agent_stream_resume_request", probeId: "p" });
    await client.waitFor({ type: "cf_agent_stream_pending", probeId: "p" });
    await client.chat([...(await client.history()), userMessage("Never mind")]).done;
    await client.waitFor("cf_agent_stream_resume_none");
    await settle();
    expect(model.calls).toHaveLength(2);
  });

  it("comes once although two tabs answer the same call", async () => {
    const { client, connect, ask, model } = await newChat([call("a"), "Once."]);
    const other = await connect();
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    const turn = await followContinuation(client);
    other.toolResult({ toolCallId: "a", toolName: "a", output: 2 });
    await turn.done;
    expect(await other.resume()).toBeUndefined();
    await settle();
    expect(model.calls).toHaveLength(2);
    expect((await toolParts(client)).a).toMatchObject({ output: 1 });
  });

  it("can be cancelled, and says so", async () => {
    const hold = gate();
    const { client, ask } = await newChat([call("a"), [text("Well"), hold]]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1 });
    const turn = await followContinuation(client);
    await turn.waitForText("Well");
    client.send({ type: "cf_agent_chat_request_cancel", id: turn.id });
    expect((await turn.done).frames.at(-1)).toMatchObject({
      done: true,
      outcome: "aborted",
      continuation: true
    });
  });

  it("uses the stored client tools and the stored body (§7.3, §7.6)", async () => {
    const { client, ask, model } = await newChat([call("a"), call("d"), "Done."]);
    await ask("Go");
    client.toolResult({ toolCallId: "a", toolName: "a", output: 1, clientTools: [{ name: "d" }] });
    await (
      await followContinuation(client)
    ).done;
    expect(model.calls[1]?.toolNames).toContain("d");
    expect(model.calls[1]?.toolNames).not.toContain("a");
    const from = client.frames.length;
    // An empty list says nothing here.
    client.toolResult({ toolCallId: "d", toolName: "d", output: 1, clientTools: [] });
    await (
      await followContinuation(client, from)
    ).done;
    expect(model.calls[2]?.toolNames).toContain("d");
  });
});

describe("the stored client tools", () => {
  it("stay when a request says nothing, go with an empty list and with a clear, and survive an eviction (trap 31)", async () => {
    const { client, stub, model } = await newChat(["1", "2", "3", "4", "5"]);
    const offered = async (options: { readonly clientTools?: typeof CLIENT_TOOLS }) => {
      await client.chat("Hi", options).done;
      return model.calls.at(-1)?.toolNames.includes("a");
    };
    expect(await offered({ clientTools: CLIENT_TOOLS })).toBe(true);
    await evict(stub());
    expect(await offered({})).toBe(true);
    expect(await offered({ clientTools: [] })).toBe(false);
    expect(await offered({ clientTools: CLIENT_TOOLS })).toBe(true);
    client.clear();
    expect(await offered({})).toBe(false);
  });

  it("never hold what a caller of chat() brought (trap 31)", async () => {
    const { client, stub, model } = await newChat(["rpc", "socket"]);
    const callback = { onStart: () => {}, onEvent: () => {}, onDone: () => {}, onError: () => {} };
    await runInAgent(stub(), (agent) => agent.chat("Hi", callback, { clientTools: [{ name: "theirs" }] }));
    await client.chat("Hi").done;
    expect(model.calls[0]?.toolNames).toContain("theirs");
    expect(model.calls[1]?.toolNames).not.toContain("theirs");
  });
});
