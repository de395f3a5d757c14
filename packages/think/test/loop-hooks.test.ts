/** §9.5–9.7 and §15: hooks around steps, tools and chunks. */
import { tool, type UIMessageChunk } from "ai";
import { gate, reasoning, runInAgent, source, text, toolCall, usage } from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type {
  ChunkContext,
  PrepareStepContext,
  StepContext,
  ToolCallContext,
  ToolCallResultContext
} from "../src/public-types";
import { newLoop } from "./loop-support";
import { addTool, type AddInput, type LoopSetup } from "./worker/loop-agents";
import { WORKSPACE_TOOLS } from "./workspace-names";

const callAdd = toolCall("add", { a: 2, b: 3 }, { id: "call-add" });

/** The chunk that carries the outcome of a tool call. */
interface ToolOutput {
  readonly type: string;
  readonly output?: unknown;
  readonly preliminary?: boolean;
}

/** One turn that calls `add` and then says "done"; what hooks and client saw. */
async function runTool(setup: Omit<LoopSetup, "model"> = {}, call = callAdd) {
  const after: ToolCallResultContext[] = [];
  const loop = await newLoop([call, "done"], {
    afterToolCall: (context) => void after.push(context),
    ...setup
  });
  const { chunks, text: said, error } = await loop.client.chat("Hi").done;
  const outputs: readonly ToolOutput[] = chunks.filter(
    (chunk) => chunk.type === "tool-output-available" || chunk.type === "tool-output-error"
  );
  return { ...loop, after, chunks, outputs, said, error };
}

describe("§9.5 beforeToolCall", () => {
  it("sees the call, the conversation and the signal, before the tool runs", async () => {
    const seen: ToolCallContext[] = [];
    const order: string[] = [];
    const execute = ({ a }: AddInput) => {
      order.push("execute");
      return a;
    };
    await runTool({
      tools: { add: addTool(execute) },
      beforeToolCall: async (context) => {
        seen.push(context);
        await Promise.resolve();
        order.push("before");
      },
      afterToolCall: () => void order.push("after")
    });
    expect(order).toEqual(["before", "execute", "after"]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      type: "tool-call",
      toolCallId: "call-add",
      toolName: "add",
      input: { a: 2, b: 3 }
    });
    expect(seen[0]?.stepNumber).toBeUndefined();
    expect(seen[0]?.messages.map(({ role }) => role)).toEqual(["user"]);
    expect(seen[0]?.abortSignal?.aborted).toBe(false);
  });

  it.each([
    ["nothing", undefined],
    ["allow", { action: "allow" } as const]
  ])("runs the tool as the model asked when it returns %s", async (_name, decision) => {
    const { outputs, after } = await runTool({ beforeToolCall: () => decision });
    expect(outputs).toMatchObject([{ type: "tool-output-available", output: { sum: 5 } }]);
    expect(after).toMatchObject([{ success: true, output: { sum: 5 } }]);
  });

  it("replaces the input without validating it again; afterToolCall still sees what the model sent", async () => {
    const { outputs, after } = await runTool({
      beforeToolCall: () => ({ action: "allow", input: { a: "x", b: "y" } })
    });
    expect(outputs).toMatchObject([{ output: { sum: "xy" } }]);
    expect(after).toMatchObject([{ input: { a: 2, b: 3 }, success: true, output: { sum: "xy" } }]);
  });

  it.each([
    ["with its reason", "not now", "not now"],
    ["with a default text", undefined, expect.stringContaining("blocked")]
  ])(
    "blocks a call %s: the model sees it as the output, afterToolCall as a success",
    async (_name, reason, expected) => {
      const execute = vi.fn<() => unknown>();
      const { outputs, after, model } = await runTool({
        tools: { add: addTool(execute) },
        beforeToolCall: () => (reason === undefined ? { action: "block" } : { action: "block", reason })
      });
      expect(execute).not.toHaveBeenCalled();
      expect(outputs).toMatchObject([{ type: "tool-output-available", output: expected }]);
      expect(after).toMatchObject([{ success: true, output: expected }]);
      expect(model.calls).toHaveLength(2);
    }
  );

  it("substitutes the output without running the tool", async () => {
    const execute = vi.fn<() => unknown>();
    const { outputs, after } = await runTool({
      tools: { add: addTool(execute) },
      beforeToolCall: async () => ({ action: "substitute", output: { cached: true } })
    });
    expect(execute).not.toHaveBeenCalled();
    expect(outputs).toMatchObject([{ output: { cached: true } }]);
    expect(after).toMatchObject([{ success: true, output: { cached: true } }]);
  });

  it.each([
    [
      "thrown",
      () => {
        throw new Error("policy down");
      }
    ],
    ["rejected", () => Promise.reject(new Error("policy down"))]
  ])("makes its own failure a tool error and lets the turn go on: %s", async (_name, beforeToolCall) => {
    const { outputs, after, said, error } = await runTool({ beforeToolCall });
    expect(outputs).toMatchObject([{ type: "tool-output-error", errorText: "policy down" }]);
    expect(after).toMatchObject([{ success: false, error: new Error("policy down") }]);
    expect({ said, error }).toEqual({ said: "done", error: undefined });
  });

  it("decides about parallel calls one by one", async () => {
    const calls = [
      toolCall("add", { a: 1, b: 1 }, { id: "one" }),
      toolCall("add", { a: 2, b: 2 }, { id: "two" })
    ];
    const { client } = await newLoop([calls, "done"], {
      beforeToolCall: ({ toolCallId }) =>
        toolCallId === "one" ? { action: "block", reason: "no" } : undefined
    });
    const { chunks } = await client.chat("Hi").done;
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: "tool-output-available", toolCallId: "one", output: "no" })
    );
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: "tool-output-available", toolCallId: "two", output: { sum: 4 } })
    );
  });

  it("is not asked about client tools, nor shown the internal final answer", async () => {
    const shown: string[] = [];
    const note = ({ toolName }: { readonly toolName: string }) => void shown.push(toolName);
    const tools = { think_final_answer: tool({ inputSchema: z.object({}), execute: () => "answered" }) };
    const { client } = await newLoop([toolCall("think_final_answer", {}), toolCall("ask", {})], {
      ...{ tools, beforeToolCall: note, afterToolCall: note },
      beforeTurn: (context) => void shown.push(...Object.keys(context.tools))
    });
    const { chunks } = await client.chat("Hi", { clientTools: [{ name: "ask" }] }).done;
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: "tool-output-available", output: "answered" })
    );
    expect(shown).toEqual([...WORKSPACE_TOOLS, "ask"]);
  });
});

describe("§9.5 afterToolCall", () => {
  it("tells duration, step and conversation", async () => {
    const { after } = await runTool();
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({
      type: "tool-call",
      toolCallId: "call-add",
      toolName: "add",
      stepNumber: 0
    });
    expect(after[0]?.durationMs).toBeGreaterThanOrEqual(0);
    expect(after[0]?.messages.map(({ role }) => role)).toEqual(["user"]);
  });

  it("tells what a tool threw", async () => {
    const boom = addTool(() => {
      throw new Error("disk full");
    });
    const { after, outputs, said } = await runTool({ tools: { add: boom } });
    expect(after).toMatchObject([{ success: false, error: new Error("disk full") }]);
    expect(after[0]).not.toHaveProperty("output");
    expect(outputs).toMatchObject([{ type: "tool-output-error", errorText: "disk full" }]);
    expect(said).toBe("done");
  });

  it("counts steps", async () => {
    const steps: unknown[] = [];
    const { client } = await newLoop([callAdd, toolCall("add", { a: 1, b: 1 }), "done"], {
      afterToolCall: ({ stepNumber }) => void steps.push(stepNumber)
    });
    await client.chat("Hi").done;
    expect(steps).toEqual([0, 1]);
  });

  it("is logged when it throws, and changes nothing", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const { said, error } = await runTool({
      afterToolCall: () => Promise.reject(new Error("analytics down"))
    });
    expect({ said, error }).toEqual({ said: "done", error: undefined });
    expect(log.mock.calls.flat().join()).toContain("afterToolCall failed: analytics down");
    log.mockRestore();
  });
});

describe("§9.5 streaming tools", () => {
  async function* progress() {
    yield "10 %";
    yield "50 %";
    yield "all";
  }
  const withExecute = (execute: () => unknown) => ({
    tools: { add: tool({ inputSchema: z.object({}), execute }) }
  });
  const asyncHook = { beforeToolCall: async () => undefined };

  it.each([
    ["a generator, no decision", progress, {}],
    ["a generator behind an asynchronous hook", progress, asyncHook],
    ["a function that returns an iterable", () => progress(), asyncHook]
  ])("keep their preliminary results: %s", async (_name, execute, hook) => {
    const { outputs, after, model, history } = await runTool(
      { ...withExecute(execute), ...hook },
      toolCall("add", {})
    );
    expect(outputs.map((chunk) => [chunk.output, chunk.preliminary ?? false])).toEqual([
      ...["10 %", "50 %", "all"].map((output) => [output, true]),
      ["all", false]
    ]);
    expect(after).toMatchObject([{ success: true, output: "all" }]);
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('"all"');
    expect((await history()).at(-1)?.parts).toContainEqual(
      expect.objectContaining({ state: "output-available", output: "all" })
    );
  });

  it("collapse to the last value when the iterable comes in a promise", async () => {
    const { outputs, after } = await runTool(
      { ...withExecute(async () => progress()), ...asyncHook },
      toolCall("add", {})
    );
    expect(outputs).toEqual([expect.objectContaining({ output: "all" })]);
    expect(after).toMatchObject([{ success: true, output: "all" }]);
  });

  it("end as one final output when they are blocked, and plain tools always do", async () => {
    const blocked = await runTool(
      { ...withExecute(progress), beforeToolCall: async () => ({ action: "block", reason: "no" }) },
      toolCall("add", {})
    );
    expect(blocked.outputs.map((chunk) => [chunk.output, chunk.preliminary])).toEqual([["no", undefined]]);
    const plain = await runTool({ beforeToolCall: async () => undefined });
    expect(plain.outputs.map((chunk) => [chunk.output, chunk.preliminary])).toEqual([
      [{ sum: 5 }, undefined]
    ]);
  });
});

describe("§9.5 a tool that needs approval", () => {
  it("asks the hook when the approved call runs in the continuation", async () => {
    const asked: string[] = [];
    const after: ToolCallResultContext[] = [];
    const { client, stub, history } = await newLoop([callAdd, "done"], {
      tools: { add: addTool(undefined, { needsApproval: true }) },
      beforeToolCall: ({ toolCallId }) => {
        asked.push(toolCallId);
        return { action: "substitute", output: "hooked" };
      },
      afterToolCall: (context) => void after.push(context)
    });
    await client.chat("Hi").done;
    expect(asked).toEqual([]);
    const stored = await history();
    const answer = stored.at(-1);
    const parts = answer?.parts.map((part) =>
      "toolCallId" in part && "approval" in part
        ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
        : part
    );
    await stub().clearMessages();
    await stub().addMessages([...stored.slice(0, -1), { ...answer!, parts: parts as never }]);
    await runInAgent(stub(), async (agent) => void (await agent.carryOn()));
    expect(asked).toEqual(["call-add"]);
    expect(after).toMatchObject([{ toolCallId: "call-add", success: true, output: "hooked" }]);
  });
});

describe("§9.6 beforeStep", () => {
  it("runs once per step, is awaited and sees the steps so far", async () => {
    const seen: unknown[] = [];
    const { client } = await newLoop([callAdd, "done"], {
      beforeStep: async ({ stepNumber, steps, messages, model }: PrepareStepContext) => {
        await Promise.resolve();
        seen.push({
          stepNumber,
          steps: steps.length,
          messages: messages.map(({ role }) => role),
          hasModel: model !== undefined
        });
      }
    });
    await client.chat("Hi").done;
    expect(seen).toEqual([
      { stepNumber: 0, steps: 0, messages: ["user"], hasModel: true },
      { stepNumber: 1, steps: 1, messages: ["user", "assistant", "tool"], hasModel: true }
    ]);
  });

  it("sees flat token counts in the steps on every SDK major", async () => {
    const counts: unknown[] = [];
    const script = [[callAdd, usage({ inputTokens: 20, outputTokens: 8, cachedInputTokens: 6 })], "done"];
    const { client } = await newLoop(script, {
      beforeStep: ({ steps }) => void counts.push(steps.map((step) => step.usage.cachedInputTokens))
    });
    await client.chat("Hi").done;
    expect(counts).toEqual([[], [6]]);
  });

  it("overrides prompt, messages, tools and model of one step", async () => {
    const other = await newLoop(["from the other model"]);
    const { client, model } = await newLoop([callAdd, "never"], {
      beforeStep: ({ stepNumber, messages }) =>
        stepNumber === 0
          ? {
              system: "Step prompt.",
              messages: [...messages, { role: "user", content: "Hurry." }],
              activeTools: ["add"],
              toolChoice: { type: "tool", toolName: "add" }
            }
          : { model: other.model }
    });
    expect((await client.chat("Hi").done).text).toBe("from the other model");
    expect(model.calls).toHaveLength(1);
    expect(model.calls[0]).toMatchObject({ system: "Step prompt.", userText: "Hurry." });
    expect(model.calls[0]?.settings.toolChoice).toEqual({ type: "tool", toolName: "add" });
  });

  it("takes null for no wish", async () => {
    const { client } = await newLoop(["done"], { beforeStep: () => null as never });
    expect((await client.chat("Hi").done).text).toBe("done");
  });

  it("hands experimental_context to tools and to later steps", async () => {
    const seen: unknown[] = [];
    const tools = {
      add: addTool((_input, options) => {
        seen.push((options as { readonly experimental_context: unknown }).experimental_context);
        return "ok";
      })
    };
    const { client } = await newLoop([callAdd, "done"], {
      tools,
      beforeStep: ({ stepNumber, experimental_context }) => {
        seen.push(experimental_context);
        return stepNumber === 0 ? { experimental_context: { user: "ada" } } : undefined;
      }
    });
    await client.chat("Hi").done;
    expect(seen).toEqual([undefined, { user: "ada" }, { user: "ada" }]);
  });

  it("fails the turn when it throws", async () => {
    const { client } = await newLoop(["never"], { beforeStep: () => Promise.reject(new Error("no step")) });
    expect((await client.chat("Hi").done).error).toBe("no step");
  });
});

describe("§9.7 onStepFinish and onChunk", () => {
  it("onStepFinish gets the whole step, with flat token counts on every SDK major", async () => {
    const steps: StepContext[] = [];
    const script = [
      [
        reasoning("hm"),
        callAdd,
        usage({ inputTokens: 20, outputTokens: 8, cachedInputTokens: 6, reasoningTokens: 3 })
      ],
      [source("https://example.com/"), text("done")]
    ];
    const { client } = await newLoop(script, { onStepFinish: (step) => void steps.push(step) });
    await client.chat("Hi").done;
    expect(steps.map(({ stepNumber, finishReason }) => [stepNumber, finishReason])).toEqual([
      [0, "tool-calls"],
      [1, "stop"]
    ]);
    expect(steps[0]).toMatchObject({
      reasoningText: "hm",
      toolCalls: [{ toolName: "add" }],
      toolResults: [{ output: { sum: 5 } }]
    });
    expect(steps[0]?.usage).toMatchObject({
      inputTokens: 20,
      outputTokens: 8,
      cachedInputTokens: 6,
      reasoningTokens: 3
    });
    expect(steps[1]).toMatchObject({ text: "done", sources: [{ url: "https://example.com/" }] });
  });

  it("onChunk gets the same kinds of parts on every SDK major, in order", async () => {
    const parts: ChunkContext["chunk"][] = [];
    const script = [
      [reasoning("hm"), toolCall("add", { a: 1, b: 1 }, { deltaSize: 100 })],
      text(["do", "ne"])
    ];
    const { client } = await newLoop(script, { onChunk: ({ chunk }) => void parts.push(chunk) });
    await client.chat("Hi").done;
    expect(parts.map(({ type }) => type)).toEqual([
      ...["reasoning-delta", "tool-input-start", "tool-input-delta", "tool-call", "tool-result"],
      ...["text-delta", "text-delta"]
    ]);
  });

  it("both are awaited", async () => {
    const order: string[] = [];
    const slow = async (name: string) => {
      order.push(`${name} begins`);
      await Promise.resolve();
      await Promise.resolve();
      order.push(`${name} ends`);
    };
    const { client } = await newLoop(["a", "b"], {
      onChunk: () => slow("chunk"),
      onStepFinish: () => slow("step")
    });
    await client.chat("Hi").done;
    expect(order).toEqual(["chunk begins", "chunk ends", "step begins", "step ends"]);
  });

  it("a failure in them is logged and does not fail the turn", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const fail = () => Promise.reject(new Error("meter broken"));
    const { client } = await newLoop(["done"], { onChunk: fail, onStepFinish: fail });
    expect(await client.chat("Hi").done).toMatchObject({ text: "done", error: undefined });
    expect(log.mock.calls.map(([line]) => line)).toEqual([
      "[Think] onChunk failed: meter broken",
      "[Think] onStepFinish failed: meter broken"
    ]);
    log.mockRestore();
  });
});

describe("hooks and the end of a turn", () => {
  it("a cancelled turn tells the running tool through its signal and ends although a hook hangs", async () => {
    const hold = gate();
    const signals: (AbortSignal | undefined)[] = [];
    const { client } = await newLoop([callAdd, "next"], {
      beforeToolCall: async ({ abortSignal }) => {
        signals.push(abortSignal);
        await hold.wait(abortSignal);
      }
    });
    const turn = client.chat("Hi");
    await hold.reached;
    turn.cancel();
    expect((await turn.done).frames.at(-1)).toMatchObject({ outcome: "aborted" });
    expect(signals[0]?.aborted).toBe(true);
  });

  it("§15 _transformInferenceResult wraps the stream of every run", async () => {
    const { client } = await newLoop(["one", "two"], {
      transform: (result) => ({
        async *toUIMessageStream() {
          for await (const chunk of result.toUIMessageStream() as AsyncIterable<UIMessageChunk>) {
            yield chunk.type === "text-delta" ? { ...chunk, delta: `<${chunk.delta}>` } : chunk;
          }
        }
      })
    });
    expect((await client.chat("1").done).text).toBe("<one>");
    expect((await client.chat("2").done).text).toBe("<two>");
  });

  it("§15 _transformInferenceResult may read the stream more than once", async () => {
    const seen: string[] = [];
    const { client, model } = await newLoop(["one"], {
      transform: (result) => ({
        async *toUIMessageStream() {
          for await (const chunk of result.toUIMessageStream() as AsyncIterable<UIMessageChunk>)
            seen.push(chunk.type);
          yield* result.toUIMessageStream() as AsyncIterable<UIMessageChunk>;
        }
      })
    });
    expect((await client.chat("1").done).text).toBe("one");
    expect(seen).toContain("text-delta");
    expect(model.calls).toHaveLength(1);
  });
});
