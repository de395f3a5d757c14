import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { usableMessages } from "./usable-parts";

const message = (...parts: object[]): UIMessage => ({
  id: "m",
  role: "assistant",
  parts: parts as UIMessage["parts"]
});
const usable = (part: object) => usableMessages([message(part)])[0]?.parts ?? [];
const call = { type: "tool-add", toolCallId: "c", input: {} };

describe("what a prompt is made of", () => {
  it("is every well-formed message, as the same object", () => {
    const messages = [
      message(
        { type: "step-start" },
        { type: "text", text: "Hi", providerMetadata: { openai: { itemId: "x" } } },
        { type: "reasoning", text: "" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
        { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf", filename: "a.pdf" },
        { type: "data-progress", data: 7 },
        { ...call, state: "output-available", output: null, preliminary: false },
        { ...call, state: "output-error", errorText: "no" },
        { ...call, state: "approval-responded", approval: { id: "a", approved: true } },
        {
          type: "dynamic-tool",
          toolName: "add",
          toolCallId: "d",
          state: "output-available",
          input: {},
          output: 1
        }
      )
    ];
    expect(usableMessages(messages)[0]).toBe(messages[0]);
  });

  it.each<[string, object]>([
    ["a text without a text", { type: "text" }],
    ["a reasoning that is a number", { type: "reasoning", text: 7 }],
    ["a file without an address", { type: "file", mediaType: "image/png" }],
    ["a file with an address that is none", { type: "file", mediaType: "image/png", url: "x" }],
    [
      "a file whose data is no base64",
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,%%%" }
    ],
    ["a file without a type", { type: "file", url: "https://example.com" }],
    ["a call without an id", { type: "tool-add", state: "output-available", input: {} }],
    ["a call without a name", { ...call, type: "tool-", state: "output-available" }],
    ["a dynamic call without a name", { ...call, type: "dynamic-tool", state: "output-available" }],
    ["a call in no state", { ...call, state: "odd" }],
    [
      "an answered approval without an answer",
      { ...call, state: "approval-responded", approval: { id: "a" } }
    ],
    ["an error without a text", { ...call, state: "output-error" }]
  ])("leaves out %s", (_what, part) => expect(usable(part)).toEqual([]));

  it("leaves out optional fields that are of the wrong type, and keeps the part", () => {
    expect(usable({ type: "text", text: "Hi", providerMetadata: "x" })).toEqual([
      { type: "text", text: "Hi" }
    ]);
    const odd = { callProviderMetadata: [], approval: "yes", preliminary: 1, providerExecuted: {} };
    expect(usable({ ...call, state: "output-available", output: 1, ...odd })).toEqual([
      { ...call, state: "output-available", output: 1 }
    ]);
  });
});
