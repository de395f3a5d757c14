import { jsonSchema } from "ai";
import { describe, expect, it, vi } from "vitest";
import type { ToolCallDecision } from "./hook-types";
import { FINAL_ANSWER_TOOL, ToolGate, type ToolGateOptions } from "./tool-gate";

const { signal } = new AbortController();
const inputSchema = jsonSchema({ type: "object" });
const options = { toolCallId: "c", messages: [] };

type Execute = (input: unknown, options?: unknown) => unknown;

function gated(execute: Execute, gateOptions: Partial<ToolGateOptions> = {}, name = "work") {
  const gate = new ToolGate({ signal, context: () => undefined, ...gateOptions });
  const tools = gate.wrap({ [name]: { inputSchema, execute } });
  const run = tools[name]?.execute as Execute;
  const open = () =>
    gate.open({ type: "tool-call", toolCallId: "c", toolName: name, input: { n: 1 } } as never, []);
  return { open, run: (input: unknown = { n: 1 }) => run(input, options) };
}

async function* counting() {
  yield 1;
  yield 2;
}

async function collect(result: unknown): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of result as AsyncIterable<unknown>) values.push(value);
  return values;
}

const asyncAllow = async (): Promise<ToolCallDecision> => ({ action: "allow" });

describe("§9.5 streaming tools", () => {
  it.each([
    ["an async generator", counting],
    ["a function that returns an iterable", () => counting()]
  ])("stay streaming behind an asynchronous hook: %s", async (_name, execute) => {
    const { open, run } = gated(execute, { beforeToolCall: asyncAllow });
    await open();
    expect(await collect(run())).toEqual([1, 2]);
  });

  it("end as their last value when the iterable comes in a promise", async () => {
    expect(await gated(async () => counting()).run()).toBe(2);
    const { open, run } = gated(async () => counting(), { beforeToolCall: asyncAllow });
    await open();
    expect(await run()).toBe(2);
  });

  it("give a plain value when they are blocked", async () => {
    const { open, run } = gated(counting, {
      beforeToolCall: async () => ({ action: "block", reason: "no" })
    });
    await open();
    expect(run()).toBe("no");
  });
});

describe("§9.5 the gate", () => {
  it("asks the hook itself when the SDK did not report the call: a block cannot be bypassed", async () => {
    const execute = vi.fn<Execute>();
    const { run } = gated(execute, { beforeToolCall: () => ({ action: "block" }) });
    expect(await run()).toContain("blocked");
    expect(execute).not.toHaveBeenCalled();
  });

  it("uses a decision once", async () => {
    const beforeToolCall = vi.fn<typeof asyncAllow>(asyncAllow);
    const { open, run } = gated(() => "done", { beforeToolCall });
    await open();
    expect(run()).toBe("done");
    expect(await run()).toBe("done");
    expect(beforeToolCall).toHaveBeenCalledTimes(2);
  });

  it("throws what the hook threw", async () => {
    const { open, run } = gated(() => "done", { beforeToolCall: () => Promise.reject(new Error("hook")) });
    await open();
    expect(run).toThrow("hook");
  });

  it("never shows the internal final answer to the hook", async () => {
    const beforeToolCall = vi.fn<typeof asyncAllow>();
    const { open, run } = gated(() => "done", { beforeToolCall }, FINAL_ANSWER_TOOL);
    await open();
    expect(run()).toBe("done");
    expect(beforeToolCall).not.toHaveBeenCalled();
  });

  it("leaves tools without execute alone and copies everything else of a tool", () => {
    const gate = new ToolGate({ signal, context: () => undefined });
    const client = { inputSchema };
    const server = Object.defineProperty({ inputSchema, title: "T", execute: () => 1 }, "hidden", {
      value: 7
    });
    const tools = gate.wrap({ client, server });
    expect(tools.client).toBe(client);
    expect(tools.server).toMatchObject({ title: "T", hidden: 7 });
  });

  it("hands the step's context to tools under the names of both SDK majors", () => {
    const execute = vi.fn<Execute>();
    gated(execute, { context: () => ({ user: 1 }) }).run();
    expect(execute.mock.calls[0]?.[1]).toEqual({
      ...options,
      context: { user: 1 },
      experimental_context: { user: 1 }
    });
  });
});

it("§9.5 an unknown decision fails the call and names the three there are", async () => {
  const deny = { action: "deny" } as unknown as ToolCallDecision;
  const { open, run } = gated(() => "ran", { beforeToolCall: () => deny });
  await open();
  await expect(Promise.resolve().then(() => run())).rejects.toThrow(
    'Return "allow", "block" or "substitute"'
  );
});
