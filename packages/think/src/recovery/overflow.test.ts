/** What counts as a context overflow: durability.md §5, turns.md §10.2. */
import { describe, expect, it, vi } from "vitest";
import type { Turn } from "../turn/turn";
import { ContextOverflow, defaultContextOverflowClassifier } from "./overflow";

describe("§5, turns §10.2 defaultContextOverflowClassifier", () => {
  it.each([
    "prompt is too long: 210000 tokens",
    "context_length_exceeded",
    "Context length exceeded",
    "This model's maximum context length is 8192",
    "exceeds the maximum number of tokens",
    "The input token count is 2000",
    "Please reduce the length of the messages",
    "Input is too long",
    "too many tokens",
    "Too many input tokens",
    "outside the context window"
  ])("knows %j, as a text, an error and an object", (said) => {
    expect(defaultContextOverflowClassifier(said)).toBe("context_overflow");
    expect(defaultContextOverflowClassifier(new Error(said))).toBe("context_overflow");
    expect(defaultContextOverflowClassifier({ error: { message: said } })).toBe("context_overflow");
  });

  it.each([undefined, null, {}, "reduce the length", "rate limit", new Error("boom")])(
    "takes %j for nothing",
    (error) => expect(defaultContextOverflowClassifier(error)).toBeUndefined()
  );
});

describe("turns §10.2 classifyChatError", () => {
  const turn = { requestId: "r", signal: new AbortController().signal } as Turn;
  const parts = { setting: () => ({ reactive: true }), compact: async () => null, emit: () => undefined };

  it("that is not overridden is warned of once and never an overflow", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const overflow = new ContextOverflow({ ...parts, classify: () => undefined });
    expect(await overflow.failed(turn, "prompt is too long", 0)).toEqual({ action: "fail" });
    await overflow.failed(turn, "prompt is too long", 0);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it("that throws is warned of and no overflow", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const classify = () => () => {
      throw new Error("broken");
    };
    expect(await new ContextOverflow({ ...parts, classify }).failed(turn, "x", 0)).toEqual({
      action: "fail"
    });
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });
});
