/** §7.1, §8.4, §9.1–9.4: what reaches the model, and what `beforeTurn` may change. */
import { hasToolCall, Output, tool, type UIMessage } from "ai";
import { reasoning, runInAgent, scriptedModel, text, toolCall, userMessage } from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { TurnConfig } from "../src/public-types";
import { createHooks } from "../src/loop/hooks";
import { streamModel } from "../src/loop/sdk";
import { newLoop } from "./loop-support";
import { addTool } from "./worker/loop-agents";
import { WORKSPACE_TOOLS } from "./workspace-names";

const answered = (id: string, parts: readonly Record<string, unknown>[]): UIMessage => ({
  id,
  role: "assistant",
  parts: parts as UIMessage["parts"]
});

const call = (fields: Record<string, unknown>) => ({
  type: "tool-add",
  toolCallId: "old-call",
  input: { a: 1, b: 2 },
  ...fields
});

describe("§9.1 assembly", () => {
  it("§9.1.3 lets client tools win over the agent's, and tools of the turn over both", async () => {
    const setup = await newLoop([toolCall("add", { a: 1, b: 2 }), toolCall("add", { a: 1, b: 2 }), "done"], {
      beforeTurn: ({ body }) =>
        body?.override === true ? { tools: { add: addTool(() => "from the turn") } } : undefined
    });
    const clientTools = [{ name: "add", description: "Adds in the client.", parameters: { type: "object" } }];
    const first = await setup.client.chat("Hi", { clientTools }).done;
    expect(setup.model.calls[0]?.tools?.slice(WORKSPACE_TOOLS.length)).toMatchObject([
      { name: "add", description: "Adds in the client." }
    ]);
    expect(first.chunks.some((chunk) => chunk.type === "tool-output-available")).toBe(false);
    const second = await setup.client.chat("Again", { clientTools, body: { override: true } }).done;
    expect(second.chunks).toContainEqual(
      expect.objectContaining({ type: "tool-output-available", output: "from the turn" })
    );
  });

  it("§9.1.5 truncates older messages for the model only, and prunes no tool calls", async () => {
    const { model, client, stub, history } = await newLoop(["done"]);
    const earlier = [
      userMessage(`first ${"x".repeat(20_000)}`, "u1"),
      answered("a1", [
        call({
          state: "output-available",
          output: { list: Array.from({ length: 300 }, (_, index) => index) }
        })
      ]),
      ...["u2", "u3", "u4"].map((id) => userMessage(id, id))
    ];
    await stub().addMessages(earlier);
    await client.chat("now").done;
    const prompt = model.calls[0]?.prompt ?? [];
    const asText = JSON.stringify(prompt);
    expect(asText).toContain("[truncated");
    expect(asText.length).toBeLessThan(14_000);
    expect(prompt.filter(({ role }) => role === "tool")).toHaveLength(1);
    expect((await history()).slice(0, 2)).toEqual(earlier.slice(0, 2));
  });

  it("§9.1.5 refuses to ask the model nothing", async () => {
    const { stub, model } = await newLoop(["never"]);
    const outcome = await runInAgent(stub(), async (agent) =>
      agent.saveMessages([]).catch((error: unknown) => ({ error }))
    );
    expect(String((outcome as { error: unknown }).error)).toContain("No messages to send to the model.");
    expect(model.calls).toHaveLength(0);
  });

  it("§8.4 ends a prompt that would end with the model's words by a user message that is never stored", async () => {
    const { client, stub, model, history } = await newLoop(["first half", "second half"]);
    await client.chat("Hi").done;
    await runInAgent(stub(), async (agent) => void (await agent.carryOn()));
    expect(model.calls[1]?.prompt.at(-1)?.role).toBe("user");
    expect(model.calls[1]?.userText).toContain("Continue from where you stopped");
    expect((await history()).map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
  });

  it("§8.4 adds that message after the override of beforeTurn, and not after a tool result", async () => {
    const { client, model } = await newLoop(["one", toolCall("add", { a: 1, b: 1 }), "two"], {
      beforeTurn: ({ messages, body }) =>
        body?.assistant === true
          ? { messages: [...messages, { role: "assistant", content: "I" }] }
          : undefined
    });
    await client.chat("Hi", { body: { assistant: true } }).done;
    expect(model.calls[0]?.prompt.slice(-2).map(({ role }) => role)).toEqual(["assistant", "user"]);
    await client.chat("Again").done;
    expect(model.calls[2]?.prompt.at(-1)?.role).toBe("tool");
  });
});

describe("§9.2 the capability block", () => {
  it("follows the tools of the turn, unless the turn brings its own prompt", async () => {
    const execute = tool({ inputSchema: z.object({}), execute: () => "ran" });
    const seen: string[] = [];
    const { client, model } = await newLoop(["one", "two", "three"], {
      beforeTurn: ({ system, body }) => {
        seen.push(system);
        if (body?.mode === "tools") return { tools: { execute } };
        return body?.mode === "system" ? { tools: { execute }, system: "Only this." } : undefined;
      }
    });
    await client.chat("1").done;
    await client.chat("2", { body: { mode: "tools" } }).done;
    await client.chat("3", { body: { mode: "system" } }).done;
    const [plain, withTools, own] = model.calls.map(({ system }) => system);
    expect(seen).toEqual([plain, plain, plain]);
    expect(plain).toMatch(/^Base prompt\.\n\nYou are running inside a Think agent\.\n/);
    expect(plain).not.toContain("sandbox");
    expect(withTools).toContain("sandbox");
    expect(own).toBe("Only this.");
  });
});

describe("§9.3 transcript repair", () => {
  it("gives an interrupted call an outcome, stores it, tells clients and emits one event", async () => {
    const { client, model, stub, history } = await newLoop(["done", "again"]);
    await stub().addMessages([userMessage("Hi", "u1"), answered("a1", [call({ state: "input-available" })])]);
    const { text: said } = await client.chat("Go on").done;
    expect(said).toBe("done");
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain("interrupted before a result was recorded");
    const repaired = (await history())[1];
    expect(repaired?.parts[0]).toMatchObject({ state: "output-error", input: { a: 1, b: 2 } });
    expect(
      client.frames.some(
        (frame) => frame.type === "cf_agent_chat_messages" && JSON.stringify(frame).includes("output-error")
      )
    ).toBe(true);
    await client.chat("Once more").done;
    const events = await runInAgent(stub(), (agent) =>
      agent.events.filter(({ type }) => type === "chat:transcript:repaired")
    );
    expect(events.map(({ payload }) => payload)).toEqual([
      { removedToolCalls: 1, normalizedInputs: 0, toolCallIds: ["old-call"] }
    ]);
  });

  it("lets the agent decide what an interrupted call becomes", async () => {
    const { client, model, stub, history } = await newLoop(["done"], {
      repair: (part) => ({ type: "text", text: `No answer to ${part.toolCallId}.` })
    });
    await stub().addMessages([userMessage("Hi", "u1"), answered("a1", [call({ state: "input-available" })])]);
    await client.chat("Go on").done;
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain("No answer to old-call.");
    expect((await history())[1]?.parts).toEqual([{ type: "text", text: "No answer to old-call." }]);
  });

  it("drops a call that still has no outcome from the prompt, warns and emits", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
    const { client, model, stub, history } = await newLoop(["done"], { repair: (part) => part });
    await stub().addMessages([
      userMessage("Hi", "u1"),
      answered("a1", [{ type: "text", text: "Hm." }, call({ state: "input-available" })])
    ]);
    await client.chat("Go on").done;
    expect(JSON.stringify(model.calls[0]?.prompt)).not.toContain("old-call");
    expect((await history())[1]?.parts).toHaveLength(2);
    expect(await runInAgent(stub(), (agent) => agent.events.map(({ type }) => type))).toContain(
      "chat:transcript:repaired"
    );
    expect(warn.mock.calls.flat().join()).toContain("old-call");
    warn.mockRestore();
  });
});

describe("§7.1 client tools", () => {
  const clientTools = [
    {
      name: "ask",
      description: "Asks the user.",
      parameters: { type: "object", properties: { q: { type: "string" } } }
    }
  ];

  it("send the call to the client when there is no executor", async () => {
    const { client, model } = await newLoop([toolCall("ask", { q: "Sure?" })]);
    const { chunks } = await client.chat("Hi", { clientTools }).done;
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: "tool-input-available", toolName: "ask", input: { q: "Sure?" } })
    );
    expect(model.calls).toHaveLength(1);
    expect(model.calls[0]?.tools).toContainEqual(
      expect.objectContaining({ name: "ask", inputSchema: clientTools[0]?.parameters })
    );
  });

  it("are answered by the caller's executor in the same turn; its failure is a tool error and the turn goes on", async () => {
    const { model, stub } = await newLoop([
      [toolCall("ask", { q: "1" }), toolCall("ask", { q: "2" })],
      toolCall("ask", { q: "3" }),
      "done"
    ]);
    const calls: unknown[] = [];
    const events = await runInAgent(stub(), async (agent) => {
      const seen: string[] = [];
      const callback = {
        onStart() {},
        onEvent: (json: string) => void seen.push(json),
        onDone() {},
        onError: (error: string) => void seen.push(error)
      };
      await agent.chat("Hi", callback, {
        clientTools,
        onClientToolCall: async (asked) => {
          calls.push(asked);
          if ((asked.input as { q: string }).q === "3") throw new Error("user left");
          return "yes";
        }
      });
      return seen;
    });
    expect(calls).toMatchObject([
      { toolName: "ask", input: { q: "1" } },
      { input: { q: "2" } },
      { input: { q: "3" } }
    ]);
    expect(events.join("\n")).toContain('"errorText":"user left"');
    expect(model.calls).toHaveLength(3);
  });
});

describe("§9.4 beforeTurn", () => {
  it("sees the assembled request, the client's fields and whether the turn is a continuation", async () => {
    const seen: unknown[] = [];
    const { client, stub } = await newLoop(["one", "two"], {
      beforeTurn: ({ messages, tools, continuation, body }) => {
        seen.push({ roles: messages.map(({ role }) => role), tools: Object.keys(tools), continuation, body });
      }
    });
    await client.chat("Hi", { body: { file: "a.ts" } }).done;
    await runInAgent(stub(), async (agent) => void (await agent.carryOn({ again: true })));
    const tools = [...WORKSPACE_TOOLS, "add"];
    expect(seen).toEqual([
      { roles: ["user"], tools, continuation: false, body: { file: "a.ts" } },
      { roles: ["user", "assistant"], tools, continuation: true, body: { again: true } }
    ]);
  });

  it("hands every call setting to the model", async () => {
    const settings = {
      maxOutputTokens: 7,
      temperature: 0.5,
      topP: 0.4,
      topK: 3,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      stopSequences: ["END"],
      seed: 9
    };
    const { client, model } = await newLoop(["done"], {
      beforeTurn: () => ({
        ...settings,
        toolChoice: "required",
        headers: { "x-turn": "1" },
        providerOptions: { test: { fast: true } }
      })
    });
    await client.chat("Hi").done;
    expect(model.calls[0]?.settings).toMatchObject({
      ...settings,
      toolChoice: { type: "required" },
      providerOptions: { test: { fast: true } }
    });
    expect(model.calls[0]?.settings.headers).toMatchObject({ "x-turn": "1" });
  });

  it("overrides model, messages and the tools the model may call", async () => {
    const other = await newLoop(["from the other model"]);
    const { client, model } = await newLoop(["never"], {
      beforeTurn: () => ({
        model: other.model,
        messages: [{ role: "user", content: "Replaced" }],
        activeTools: []
      })
    });
    expect((await client.chat("Hi").done).text).toBe("from the other model");
    expect(model.calls).toHaveLength(0);
    expect(other.model.calls[0]).toMatchObject({ userText: "Replaced", toolNames: [] });
  });

  it("bounds steps by maxSteps of the turn, else of the agent; stopWhen ends earlier but never later", async () => {
    const steps = () => Array.from({ length: 20 }, () => toolCall("add", { a: 1, b: 1 }));
    const asked = async (config: object, maxSteps?: number) => {
      const { client, model, stub } = await newLoop(steps(), { beforeTurn: () => config });
      if (maxSteps !== undefined) await runInAgent(stub(), (agent) => void (agent.maxSteps = maxSteps));
      await client.chat("Hi").done;
      return model.calls.length;
    };
    expect(await asked({})).toBe(10);
    expect(await asked({}, 4)).toBe(4);
    expect(await asked({ maxSteps: 2 }, 4)).toBe(2);
    expect(await asked({ stopWhen: hasToolCall("add") })).toBe(1);
    expect(await asked({ stopWhen: [() => false], maxSteps: 3 })).toBe(3);
  });

  it("decides about reasoning, both ways", async () => {
    const shown = async (agentDefault: boolean, turn?: boolean) => {
      const { client, stub } = await newLoop([[reasoning("hm"), text("done")]], {
        beforeTurn: () => (turn === undefined ? undefined : { sendReasoning: turn })
      });
      await runInAgent(stub(), (agent) => void (agent.sendReasoning = agentDefault));
      return (await client.chat("Hi").done).chunks.some((chunk) => chunk.type === "reasoning-delta");
    };
    expect([
      await shown(true),
      await shown(false),
      await shown(true, false),
      await shown(false, true)
    ]).toEqual([true, false, false, true]);
  });

  it("asks for structured output; an answer that does not fit fails the turn", async () => {
    const config = () => ({
      output: Output.object({ schema: z.object({ city: z.string() }) }),
      activeTools: []
    });
    const good = await newLoop(['{"city":"Rome"}'], { beforeTurn: config });
    expect(await good.client.chat("Where?").done).toMatchObject({
      text: '{"city":"Rome"}',
      error: undefined
    });
    expect(good.model.calls[0]?.settings.responseFormat).toMatchObject({ type: "json" });
    const bad = await newLoop(["Rome, I think"], { beforeTurn: config });
    const { text: said, error } = await bad.client.chat("Where?").done;
    expect(said).toBe("Rome, I think");
    expect(error).toContain("could not parse");
  });

  it("transforms the stream before anybody sees it", async () => {
    const { client } = await newLoop(["quiet"], {
      beforeTurn: () => ({
        experimental_transform: () =>
          new TransformStream({
            transform: (part, controller) =>
              controller.enqueue(
                part.type === "text-delta" ? { ...part, text: part.text.toUpperCase() } : part
              )
          })
      })
    });
    expect((await client.chat("Hi").done).text).toBe("QUIET");
  });

  it.each([
    ["for the whole turn", 30],
    ["between chunks", { chunkMs: 30 }]
  ])("reports running out of time as an error: %s", async (_name, timeout) => {
    const { client } = await newLoop([{ type: "hang" }], { beforeTurn: () => ({ timeout }) });
    const { error, frames } = await client.chat("Hi").done;
    expect(error).toMatch(/timeout|timed out|took longer/i);
    expect(frames.at(-1)).toMatchObject({ outcome: "error" });
  });

  it("hands the turn's limit of silence to whoever watches the stream, and no output that was not asked for", async () => {
    const start = (config: TurnConfig) =>
      streamModel({
        ...{
          config,
          model: scriptedModel(["done"]),
          system: "",
          messages: [{ role: "user", content: "Hi" }],
          tools: {}
        },
        ...{
          maxSteps: 1,
          sendReasoning: true,
          signal: new AbortController().signal,
          hooks: createHooks({}, [])
        },
        transformResult: (result) => result
      });
    expect(start({ chatStreamStallTimeoutMs: 0 })).toMatchObject({ stallTimeoutMs: 0, output: undefined });
    expect(start({}).stallTimeoutMs).toBeUndefined();
  });

  it("fails the turn when it throws", async () => {
    const { client, model } = await newLoop(["never"], {
      beforeTurn: () => Promise.reject(new Error("not today"))
    });
    expect((await client.chat("Hi").done).error).toBe("not today");
    expect(model.calls).toHaveLength(0);
  });
});
