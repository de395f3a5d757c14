import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { failInterruptedPart, repairTranscript } from "./repair-transcript";

const call = (fields: Record<string, unknown>) => ({
  type: "tool-read",
  toolCallId: "call-1",
  input: { path: "/a" },
  ...fields
});

function assistant(...parts: readonly Record<string, unknown>[]): UIMessage {
  return { id: "answer", role: "assistant", parts: parts as UIMessage["parts"] };
}

const repairOne = (part: Record<string, unknown>) => {
  const repaired = repairTranscript([assistant(part)], failInterruptedPart);
  return { ...repaired, part: repaired.messages[0]?.parts[0] };
};

describe("§9.3 interrupted tool calls", () => {
  it.each(["input-streaming", "input-available", "approval-requested"])(
    "turns %s into an error in its place",
    (state) => {
      const { part, changed, report } = repairOne(call({ state }));
      expect(part).toEqual(
        call({
          state: "output-error",
          errorText: "The tool call was interrupted before a result was recorded."
        })
      );
      expect(changed).toHaveLength(1);
      expect(report).toEqual({ removedToolCalls: 1, normalizedInputs: 0, toolCallIds: ["call-1"] });
    }
  );

  it("repairs dynamic tools too", () => {
    const { part } = repairOne({
      type: "dynamic-tool",
      toolName: "read",
      toolCallId: "call-1",
      input: {},
      state: "input-available"
    });
    expect(part).toMatchObject({ type: "dynamic-tool", state: "output-error" });
  });

  it("takes a preliminary output for what it is: a tool that was still running", () => {
    const { part } = repairOne(call({ state: "output-available", output: "10 %", preliminary: true }));
    expect(part).toMatchObject({ state: "output-error" });
    expect(part).not.toHaveProperty("output");
    expect(part).not.toHaveProperty("preliminary");
  });

  it("keeps every message and part, and the parts around a repaired one", () => {
    const text = { type: "text", text: "Let me look." };
    const { messages } = repairTranscript(
      [assistant(text, call({ state: "input-available" }), text)],
      failInterruptedPart
    );
    expect(messages[0]?.parts.map((part) => part.type)).toEqual(["text", "tool-read", "text"]);
  });

  it("lets the rule answer with another part", () => {
    const { messages, incomplete } = repairTranscript(
      [assistant(call({ state: "input-available" }))],
      () => ({ type: "text", text: "gone" })
    );
    expect(messages[0]?.parts).toEqual([{ type: "text", text: "gone" }]);
    expect(incomplete).toEqual([]);
  });

  it("names the calls that the rule left without an outcome", () => {
    const { changed, incomplete } = repairTranscript(
      [assistant(call({ state: "input-available" }))],
      (part) => part
    );
    expect(changed).toEqual([]);
    expect(incomplete).toEqual(["call-1"]);
  });
});

describe("§9.3 calls that have an outcome", () => {
  it.each([
    ["an output", call({ state: "output-available", output: 1 })],
    ["an error of its own", call({ state: "output-error", errorText: "no such file" })],
    ["a denial", call({ state: "output-denied", approval: { id: "a", approved: false } })],
    ["an output without a state", call({ output: 1 })],
    ["a result of an older version", call({ result: 1 })],
    [
      "an answered approval",
      call({ state: "approval-responded", input: "verbatim", approval: { id: "a", approved: true } })
    ]
  ])("are left alone: %s", (_name, part) => {
    const message = assistant(part);
    const { messages, changed, report, incomplete } = repairTranscript([message], failInterruptedPart);
    expect(messages[0]).toBe(message);
    expect({ changed, incomplete }).toEqual({ changed: [], incomplete: [] });
    expect(report).toEqual({ removedToolCalls: 0, normalizedInputs: 0, toolCallIds: [] });
  });

  it.each([
    ["JSON text of an object", '{"a":1}', { a: 1 }],
    ["JSON text of an array", "[1]", {}],
    ["broken JSON", '{"a":', {}],
    ["an array", [1], {}],
    ["a number", 5, {}],
    ["null", null, {}],
    ["nothing", undefined, {}]
  ])("get an object as input: %s", (_name, input, expected) => {
    const { part, report } = repairOne(call({ state: "output-available", output: 1, input }));
    expect(part).toEqual(call({ state: "output-available", output: 1, input: expected }));
    expect(report).toEqual({ removedToolCalls: 0, normalizedInputs: 1, toolCallIds: ["call-1"] });
  });
});
