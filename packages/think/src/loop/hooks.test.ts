import { describe, expect, it, vi } from "vitest";
import type { AgentHooks, ChunkContext, ToolCallContext, TurnContext } from "./hook-types";
import { createHooks, overriddenHooks } from "./hooks";
import { createRun } from "./sdk-events";
import { mergeTurnConfig } from "./turn-config";

class Defaults implements AgentHooks {
  beforeTurn(): void {}
  beforeStep(): void {}
  beforeToolCall(): void {}
  afterToolCall(): void {}
  onStepFinish(): void {}
  onChunk(): void {}
}

const { signal } = new AbortController();
const turn = { system: "base", messages: [], tools: {}, model: "model", continuation: false } as TurnContext;
const toolCall = { toolName: "add", input: { a: 1 } } as ToolCallContext;
const chunk = { chunk: { type: "text-delta", id: "t", text: "a" } } as ChunkContext;

describe("hooks that nobody overrides", () => {
  it("are not passed to the SDK at all", () => {
    const hooks = createHooks(overriddenHooks(new Defaults(), Defaults.prototype), []);
    expect(Object.keys(createRun({ tools: {}, hooks, signal })).toSorted()).toEqual(["prepareStep", "tools"]);
  });

  it("are told from those overridden by a method or by a field", () => {
    class Author extends Defaults {
      readonly seen: string[] = [];
      override onChunk = () => void this.seen.push("chunk");
      override onStepFinish(): void {
        this.seen.push("step");
      }
    }
    const author = new Author();
    const hooks = overriddenHooks(author, Defaults.prototype);
    expect(Object.keys(hooks)).toEqual(["onStepFinish", "onChunk"]);
    void hooks.onStepFinish?.({} as never);
    void hooks.onChunk?.({} as never);
    expect(author.seen).toEqual(["step", "chunk"]);
  });
});

describe("§9.4 observers of beforeTurn", () => {
  it("run after the author, in order, each seeing what was decided so far", async () => {
    const seen: unknown[] = [];
    const observer = (patch: Record<string, unknown>) => ({
      beforeTurn: async (_context: TurnContext, config: object) => {
        seen.push(config);
        return patch;
      }
    });
    const hooks = createHooks({ beforeTurn: () => ({ maxSteps: 1 }) }, [
      observer({ system: "one" }),
      observer({ system: "two" })
    ]);
    expect(await hooks.beforeTurn(turn)).toEqual({ maxSteps: 1, system: "two" });
    expect(seen).toEqual([{ maxSteps: 1 }, { maxSteps: 1, system: "one" }]);
  });

  it("may set plain fields; records are merged, and everything that is not data is ignored", () => {
    const config = { temperature: 0, headers: { a: "1", b: "1" } };
    const patch = {
      ...{ temperature: 1, headers: { b: "2" }, providerOptions: { x: {} } },
      ...{ model: "other", tools: {}, stopWhen: [], output: {}, chatStreamStallTimeoutMs: 1, unknown: true }
    };
    expect(mergeTurnConfig(config, patch as never)).toEqual({
      temperature: 1,
      headers: { a: "1", b: "2" },
      providerOptions: { x: {} }
    });
  });

  it("cannot fail the turn; the author can", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const broken = { beforeTurn: () => Promise.reject(new Error("extension down")) };
    expect(await createHooks({ beforeTurn: () => ({ seed: 1 }) }, [broken]).beforeTurn(turn)).toEqual({
      seed: 1
    });
    expect(log.mock.calls[0]?.[0]).toContain("extension down");
    log.mockRestore();
    const author = createHooks({ beforeTurn: () => Promise.reject(new Error("no")) }, []);
    await expect(author.beforeTurn(turn)).rejects.toThrow("no");
  });
});

describe("§9.5 observers of tool calls", () => {
  it("see the input the tool will run with, and decide nothing", async () => {
    const seen: unknown[] = [];
    const observer = {
      beforeToolCall: async (context: ToolCallContext) => {
        seen.push(context.input);
        return { action: "block" } as never;
      }
    };
    const hooks = createHooks({ beforeToolCall: () => ({ action: "allow", input: { a: 2 } }) }, [observer]);
    expect(await hooks.beforeToolCall?.(toolCall)).toEqual({ action: "allow", input: { a: 2 } });
    expect(await createHooks({}, [observer]).beforeToolCall?.(toolCall)).toBeUndefined();
    expect(seen).toEqual([{ a: 2 }, { a: 1 }]);
  });
});

describe("§9.7 observing hooks", () => {
  it("run author first; one that throws is logged and does not keep the others from running", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const seen: string[] = [];
    const author = {
      onChunk: () => {
        seen.push("author");
        throw new Error("broken hook");
      }
    };
    await createHooks(author, [{ onChunk: async () => void seen.push("observer") }]).onChunk?.(chunk);
    expect(seen).toEqual(["author", "observer"]);
    expect(log.mock.calls[0]?.[0]).toContain("onChunk failed: broken hook");
    log.mockRestore();
  });

  it("do not see parts that only one SDK major reports, nor the internal final answer", async () => {
    const seen: string[] = [];
    const hooks = createHooks({ onChunk: ({ chunk: part }) => void seen.push(part.type) }, []);
    const onChunk = createRun({ tools: {}, hooks, signal }).onChunk as (context: unknown) => Promise<void>;
    const parts = [
      { type: "start-step" },
      { type: "text-delta", id: "t", text: "a" },
      { type: "tool-input-start", id: "f", toolName: "think_final_answer" },
      { type: "tool-input-delta", id: "f", delta: "{" },
      { type: "tool-call", toolCallId: "f", toolName: "think_final_answer", input: {} },
      { type: "tool-input-delta", id: "other", delta: "{" },
      { type: "finish-step" }
    ];
    for (const part of parts) await onChunk({ chunk: part });
    expect(seen).toEqual(["text-delta", "tool-input-delta"]);
  });
});
