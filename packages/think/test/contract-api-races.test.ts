/** §6–§10: things that happen at the same time, and things that fail at a bad moment. */
import { Output, tool } from "ai";
import {
  gate,
  hang,
  runInAgent,
  text,
  toolCall,
  userMessage,
  type ReceivedFrame
} from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { newAgent, recorder, texts } from "./contract-api-support";

const terminals = (frames: readonly ReceivedFrame[], id: string) =>
  frames.filter((frame) => frame.id === id && frame.done === true);

describe("a turn that is stopped", () => {
  it("§8.1, §8.2 inside onStart ends without asking the model", async () => {
    const { stub, model } = await newAgent(["never"]);
    const seen = await runInAgent(stub(), async (agent) => {
      const callback = recorder();
      const onStart = ({ requestId }: { readonly requestId: string }) => agent.cancelChat(requestId);
      await agent.chat("Hi", { ...callback, onStart });
      return { calls: callback.calls, hooks: agent.responses.map(({ status }) => status) };
    });
    expect(seen).toEqual({ calls: [], hooks: ["aborted"] });
    expect(model.calls).toHaveLength(0);
  });

  it("§8.1 leaves nothing behind when onStart throws", async () => {
    const { stub } = await newAgent(["fine"]);
    const outcome = await runInAgent(stub(), async (agent) => {
      const onStart = () => Promise.reject(new Error("nobody there"));
      const rejection = await agent
        .chat("Hi", { ...recorder(), onStart })
        .catch((error: Error) => error.message);
      return {
        rejection,
        next: (await agent.saveMessages([userMessage("Go")])).status,
        said: texts(agent.messages)
      };
    });
    expect(outcome).toEqual({ rejection: "nobody there", next: "completed", said: ["Go", "fine"] });
  });

  it("§9.4 while beforeTurn hangs ends at once, and what the hook says later is not heard", async () => {
    const { stub, client, model } = await newAgent(["next"]);
    const hold = gate();
    await runInAgent(stub(), (agent) => {
      agent.beforeTurn = async () => {
        if (model.calls.length === 0 && agent.responses.length === 0) await hold.wait();
      };
    });
    const turn = client.chat("Hi", { id: "stuck" });
    await client.resume({ probeId: "arrived" });
    turn.cancel();
    expect((await turn.done).frames.at(-1)?.outcome).toBe("aborted");
    hold.open();
    expect((await client.chat("Again").done).text).toBe("next");
    expect(model.calls).toHaveLength(1);
  });

  it("§8.2 although its caller has stopped listening gives the queue free", async () => {
    const { stub, client } = await newAgent([text(Array.from({ length: 200 }, () => "x")), "next"]);
    let id = "";
    const running = runInAgent(stub(), async (agent) => {
      const deaf = { ...recorder(), onEvent: () => new Promise<void>(() => {}) };
      void agent.chat("Hi", { ...deaf, onStart: ({ requestId }) => void (id = requestId) });
      await Promise.resolve();
    });
    await running;
    await client.waitFor((frame) => frame.id === id && frame.seq === 60);
    await runInAgent(stub(), (agent) => agent.cancelChat(id));
    expect((await client.chat("Again").done).text).toBe("next");
  });

  it("§6.9 by a clear while its structured output is awaited has one end, and stores nothing", async () => {
    const { stub, client, connect } = await newAgent([text('{"a":1}')]);
    const hold = gate();
    await runInAgent(stub(), (agent) => {
      agent.beforeTurn = () => ({ output: Output.object({ schema: z.object({ a: z.number() }) }) });
      Object.assign(agent, {
        _transformInferenceResult: (result: { toUIMessageStream: () => unknown }) => ({
          toUIMessageStream: () => result.toUIMessageStream(),
          output: hold.wait().then(() => ({ a: 1 }))
        })
      });
    });
    const other = await connect();
    const turn = client.chat("Hi", { id: "cleared" });
    await turn.waitForChunk("finish");
    other.clear();
    await client.waitFor("cf_agent_chat_clear");
    hold.open();
    await turn.done;
    await client.resume({ probeId: "later" });
    expect(terminals(client.frames, "cleared").map(({ outcome }) => outcome)).toEqual(["aborted"]);
    expect(await runInAgent(stub(), (agent) => [agent.messages.length, agent.responses.length])).toEqual([
      0, 0
    ]);
  });
});

describe("a caller that fails", () => {
  it("§9.8 in onDone gets its own error back; the response hook has run once", async () => {
    const { stub } = await newAgent(["fine"]);
    const seen = await runInAgent(stub(), async (agent) => {
      const onDone = () => {
        throw new Error("callback broke");
      };
      const rejection = await agent
        .chat("Hi", { ...recorder(), onDone })
        .catch((error: Error) => error.message);
      return { rejection, hooks: agent.responses.map(({ status }) => status) };
    });
    expect(seen).toEqual({ rejection: "callback broke", hooks: ["completed"] });
  });

  it("§8.3, §10.1 in the function form of saveMessages is told so, and the failure is reported once", async () => {
    const { stub, model } = await newAgent(["next"]);
    const seen = await runInAgent(stub(), async (agent) => {
      const failing = () => Promise.reject(new Error("no messages today"));
      const rejection = await agent.saveMessages(failing).catch((error: Error) => error.message);
      const next = await agent.saveMessages([userMessage("Go")]);
      return { rejection, next: next.status, errors: agent.errors.map(({ context }) => context) };
    });
    expect(seen).toEqual({
      rejection: "no messages today",
      next: "completed",
      errors: [{ requestId: expect.any(String), stage: "persist", messagesPersisted: false }]
    });
    expect(model.calls).toHaveLength(1);
  });

  it("§8.1, §10.1 with a message that cannot be stored hears of it through onError", async () => {
    const { stub, model } = await newAgent([]);
    const seen = await runInAgent(stub(), async (agent) => {
      const callback = recorder();
      const huge = {
        type: "file",
        mediaType: "image/png",
        url: `data:image/png;base64,${"A".repeat(2_000_000)}`
      } as const;
      await agent.chat({ id: "huge", role: "user", parts: [huge] }, callback);
      const failed = agent.events.filter(({ type }) => type === "chat:request:failed").length;
      return { calls: callback.calls, stages: agent.errors.map(({ context }) => context?.stage), failed };
    });
    expect(seen.calls).toEqual(["start", expect.stringContaining("at most 1800000 can be stored")]);
    expect(seen).toMatchObject({ stages: ["persist"], failed: 1 });
    expect(model.calls).toHaveLength(0);
  });
});

describe("messages that come in while a turn runs", () => {
  it("§8.5 through addMessages are shown to clients when the stream has ended, once", async () => {
    const hold = gate();
    const { stub, client } = await newAgent([[text("Half"), hold, text(" done")]]);
    const turn = client.chat("Hi");
    await turn.waitForText("Half");
    const before = client.frames.length;
    await stub().addMessages([userMessage("note", "n1")]);
    await stub().addMessages([userMessage("note two", "n2")]);
    expect(client.frames.slice(before).map(({ type }) => type)).not.toContain("cf_agent_chat_messages");
    hold.open();
    await turn.done;
    await client.waitFor("cf_agent_chat_messages", { from: before });
    await client.resume({ probeId: "later" });
    const lists = client.frames.slice(before).filter(({ type }) => type === "cf_agent_chat_messages");
    expect(lists.map(({ messages }) => texts(messages ?? []))).toEqual([
      ["Hi", "note", "note two", "Half done"]
    ]);
  });

  it("§9.3 as the answer of a tool are not overwritten by the repair of an older copy", async () => {
    const { stub, client, model } = await newAgent([toolCall("ask", {}, { id: "c1" }), "two", "three"]);
    await client.chat("Hi", { clientTools: [{ name: "ask" }] }).done;
    const first = await client.history();
    await runInAgent(stub(), (agent) => agent.addMessages([userMessage("Go on", "u2")]));
    const hold = gate();
    await runInAgent(stub(), (agent) => {
      agent.getSystemPrompt = async () => {
        await hold.wait();
        return "Prompt.";
      };
    });
    const again = client.chat([...first, userMessage("Go on", "u2")], { trigger: "regenerate-message" });
    await client.resume({ probeId: "arrived" });
    client.toolResult({ toolCallId: "c1", toolName: "ask", output: "yes", autoContinue: false });
    await client.waitFor("cf_agent_message_updated");
    hold.open();
    await again.done;
    expect((await client.history())[1]?.parts).toContainEqual(
      expect.objectContaining({ toolCallId: "c1", state: "output-available", output: "yes" })
    );
    expect(JSON.stringify(model.calls.at(-1)?.prompt)).not.toContain("interrupted");
  });
});

describe("what a tool returns", () => {
  it("§6.5 is the same in memory and in storage, whatever it was and whatever the tool does with it later", async () => {
    const { stub, client } = await newAgent([toolCall("when"), "done"]);
    const result = { at: new Date(0), run: () => 1, list: [1] };
    await runInAgent(stub(), (agent) => {
      agent.getTools = () => ({ when: tool({ inputSchema: z.object({}), execute: () => result }) });
    });
    await client.chat("Hi").done;
    result.list.push(2);
    const [inMemory, stored] = await runInAgent(stub(), async (agent) => {
      const before = [...agent.messages];
      return [before, await agent.sync()];
    });
    expect(inMemory).toEqual(stored);
    expect(JSON.stringify(stored)).toContain('"list":[1]');
  });
});

describe("storage that fails", () => {
  const broken = (table: string, when: string) =>
    `CREATE TRIGGER broken BEFORE ${when} ON ${table} BEGIN SELECT RAISE(ABORT, 'disk is full'); END`;

  it("at the end of a turn fails the turn for everyone, and the next one works (§9.8, §10.1)", async () => {
    const { stub, client } = await newAgent(["first", "lost", "kept"]);
    await client.chat("Hi").done;
    await runInAgent(stub(), (agent, state) => {
      agent.beforeTurn = () => {
        if (agent.errors.length === 0) state.storage.sql.exec(broken("assistant_messages", "INSERT"));
      };
    });
    const turn = await client.chat("Again", { id: "t" }).done;
    expect(turn.error).toContain("disk is full");
    const seen = await runInAgent(stub(), (agent, state) => {
      state.storage.sql.exec("DROP TRIGGER broken");
      return {
        hooks: agent.responses.map(({ status }) => status),
        stages: agent.errors.map(({ context }) => context?.stage)
      };
    });
    expect(seen).toEqual({ hooks: ["completed", "error"], stages: ["stream"] });
    expect(terminals(client.frames, "t")).toHaveLength(1);
    expect((await client.chat("More").done).error).toBeUndefined();
  });

  it("before the stream exists is told to the client, once (§10.1)", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const { stub, client } = await newAgent(["one", "two", "three"]);
    await client.chat("Hi").done;
    await runInAgent(stub(), (_agent, state) => {
      for (const when of ["INSERT", "UPDATE"])
        state.storage.sql.exec(
          broken("cf_ai_chat_stream_metadata", when).replace("broken", `broken_${when}`)
        );
    });
    const turn = await client.chat("Again", { id: "t" }).done;
    expect(turn.error).toContain("disk is full");
    expect(terminals(client.frames, "t")).toHaveLength(1);
    const stages = await runInAgent(stub(), (agent, state) => {
      for (const when of ["INSERT", "UPDATE"]) state.storage.sql.exec(`DROP TRIGGER broken_${when}`);
      return agent.errors.map(({ context }) => context?.stage);
    });
    expect(stages).toHaveLength(1);
    expect((await client.chat("More").done).error).toBeUndefined();
    log.mockRestore();
  });

  it("with a tool's answer leaves the call open; the next answers are taken (§7.3)", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const calls = [toolCall("ask", {}, { id: "c1" }), toolCall("ask", {}, { id: "c2" })];
    const { stub, client } = await newAgent([calls, "done"]);
    await client.chat("Hi", { clientTools: [{ name: "ask" }] }).done;
    await runInAgent(stub(), (_agent, state) =>
      state.storage.sql.exec(broken("assistant_messages", "UPDATE"))
    );
    client.toolResult({ toolCallId: "c1", toolName: "ask", output: 1 });
    client.send({ type: "cf_agent_stream_resume_request" });
    await client.waitFor("cf_agent_stream_pending");
    await runInAgent(stub(), (_agent, state) => void state.storage.sql.exec("DROP TRIGGER broken"));
    client.toolResult({ toolCallId: "c2", toolName: "ask", output: 2 });
    const updated = await client.waitFor("cf_agent_message_updated");
    const states = updated.message?.parts.flatMap((part) => ("toolCallId" in part ? [part.state] : []));
    expect(states).toEqual(["input-available", "output-available"]);
    log.mockRestore();
  });
});

it("§8.3 a turn that waits behind a hanging one can be stopped, and its message is kept", async () => {
  const { stub, client } = await newAgent([hang()]);
  const first = client.chat("1");
  await first.waitForChunk("start");
  const waiting = client.chat("2");
  await client.resume({ probeId: "arrived" });
  waiting.cancel();
  first.cancel();
  expect((await waiting.done).frames.at(-1)?.outcome).toBe("aborted");
  expect(texts(await runInAgent(stub(), (agent) => agent.getMessages()))).toEqual(["1", "2"]);
});
