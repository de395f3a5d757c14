import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { prepareMessage, sanitizeMessage, withoutFinalAnswer } from "./sanitize";

const assistant = (...parts: unknown[]): UIMessage => ({
  id: "a",
  role: "assistant",
  parts: parts as UIMessage["parts"]
});

describe("§6.2 sanitising", () => {
  it("takes passing OpenAI ids out of both kinds of metadata and keeps the rest", () => {
    const message = assistant(
      {
        type: "text",
        text: "x",
        providerMetadata: { openai: { itemId: "i", kept: 1 }, other: { itemId: "mine" } }
      },
      {
        type: "tool-add",
        toolCallId: "t",
        state: "input-available",
        input: {},
        callProviderMetadata: { openai: { itemId: "i" } }
      }
    );
    expect(sanitizeMessage(message).parts).toEqual([
      { type: "text", text: "x", providerMetadata: { openai: { kept: 1 }, other: { itemId: "mine" } } },
      { type: "tool-add", toolCallId: "t", state: "input-available", input: {} }
    ]);
  });

  it("removes blank reasoning unless metadata is left that may matter", () => {
    const message = assistant(
      { type: "reasoning", text: " \n" },
      { type: "reasoning", text: "", providerMetadata: { openai: { reasoningEncryptedContent: "x" } } },
      { type: "reasoning", text: "", providerMetadata: { anthropic: { signature: "s" } } },
      { type: "reasoning", text: "hm" },
      { type: "text", text: "" }
    );
    expect(sanitizeMessage(message).parts).toEqual([
      { type: "reasoning", text: "", providerMetadata: { anthropic: { signature: "s" } } },
      { type: "reasoning", text: "hm" },
      { type: "text", text: "" }
    ]);
  });

  it("returns a message with nothing to take out as it is", () => {
    const message = assistant({ type: "text", text: "x", providerMetadata: { openai: { kept: 1 } } });
    expect(sanitizeMessage(message)).toBe(message);
  });

  it("does not fail on parts of any shape", () => {
    const message = assistant(
      { type: "reasoning" },
      { type: "text", providerMetadata: 5 },
      { type: "file", providerMetadata: { openai: null } }
    );
    expect(sanitizeMessage(message).parts).toHaveLength(2);
  });
});

describe("§6.1 the internal final-answer tool", () => {
  const answer = (type: string, rest: object = {}) => ({
    type,
    toolCallId: "t",
    state: "output-available",
    input: {},
    output: 1,
    ...rest
  });

  it("is removed in both part forms, and tools with similar names stay", () => {
    const message = assistant(
      { type: "step-start" },
      answer("tool-think_final_answer"),
      answer("tool-think_final_answer_2"),
      answer("dynamic-tool", { toolName: "think_final_answer" }),
      answer("tool-think_final_answers"),
      { type: "text", text: "x" }
    );
    expect(withoutFinalAnswer(message)?.parts.map((part) => part.type)).toEqual([
      "step-start",
      "tool-think_final_answers",
      "text"
    ]);
  });

  it("leaves nothing to store when only step marks remain", () => {
    expect(prepareMessage(assistant({ type: "step-start" }, answer("tool-think_final_answer")))).toBeNull();
  });

  it("is left alone in messages of users", () => {
    const message: UIMessage = { ...assistant(answer("tool-think_final_answer")), role: "user" };
    expect(withoutFinalAnswer(message)).toBe(message);
  });
});
