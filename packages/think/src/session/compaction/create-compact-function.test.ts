import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { TokenCounter } from "./compact-types";
import { createCompactFunction, type CreateCompactFunctionOptions } from "./create-compact-function";
import { call, dialogue, histories, result, say, separates, tools } from "./messages.test-support";

const small = { tailTokenBudget: 1, minTailMessages: 2 };

function compact(
  messages: UIMessage[],
  options: Partial<CreateCompactFunctionOptions> = {},
  tokenCounter?: TokenCounter
) {
  const prompts: string[] = [];
  const summarize = (prompt: string) => {
    prompts.push(prompt);
    return "a summary";
  };
  const fn = createCompactFunction({ summarize, ...options });
  const outcome = Promise.resolve(fn(messages, tokenCounter === undefined ? {} : { tokenCounter }));
  return outcome.then((result) => ({ result, prompts }));
}

describe("§8.11 createCompactFunction", () => {
  it("summarises what lies between the first 3 messages and the tail", async () => {
    const { result: range, prompts } = await compact(dialogue(10), small);
    expect(range).toEqual({ fromMessageId: "m3", toMessageId: "m7", summary: "a summary" });
    expect(prompts[0]).toContain("assistant: 3 xx");
    expect(prompts[0]).toContain("assistant: 7 xx");
    expect(prompts[0]).not.toContain(": 2 xx");
    expect(prompts[0]).not.toContain(": 8 xx");
  });

  it("returns null without asking when there are too few messages, or nothing in between", async () => {
    const few = await compact(dialogue(5), small);
    const roomy = await compact(dialogue(10));
    expect([few.result, roomy.result]).toEqual([null, null]);
    expect([...few.prompts, ...roomy.prompts]).toEqual([]);
    expect((await compact(dialogue(6), small)).result).toMatchObject({
      fromMessageId: "m3",
      toMessageId: "m3"
    });
  });

  it("returns null for an empty summary", async () => {
    expect((await compact(dialogue(10), { ...small, summarize: () => " \n" })).result).toBeNull();
  });

  it("moves the head forward past a result and the tail back before a call", async () => {
    const messages = [
      ...[say("u0"), say("u1"), tools("a2", call("t")), tools("a3", result("t"))],
      ...[say("u4"), tools("a5", call("s")), tools("a6", result("s")), say("u7")]
    ];
    const { result: range } = await compact(messages, small);
    expect(range).toMatchObject({ fromMessageId: "u4", toMessageId: "u4" });
  });

  it("trap 39: leaves summaries out of range and prompt, and passes their text on for updating", async () => {
    const summary = say("compaction_x", "They met in Oslo.", "assistant");
    const messages = [...dialogue(3), summary, say("n0"), say("n1"), say("n2"), say("n3")];
    const { result: range, prompts } = await compact(messages, small);
    expect(range).toMatchObject({ fromMessageId: "n0", toMessageId: "n1" });
    expect(prompts[0]).toContain("<summary-so-far>\nThey met in Oslo.\n</summary-so-far>");
    expect(prompts[0]).not.toContain("assistant: They met");
    expect((await compact([...dialogue(3), summary, say("n0"), say("n1")], small)).result).toBeNull();
  });

  it("puts everything behind a summary into the prompt, even where the head would be protected", async () => {
    const summary = say("compaction_x", "They met.", "assistant");
    const { result: range, prompts } = await compact(
      [summary, ...["n0", "n1", "n2", "n3", "n4"].map((id) => say(id))],
      small
    );
    expect(range).toMatchObject({ fromMessageId: "n0", toMessageId: "n2" });
    expect(prompts[0]).toContain("text of n0");
  });

  it("counts the tail with its own counter, else with the session's, message by message", async () => {
    const own = vi.fn<TokenCounter>(() => 10);
    const session = vi.fn<TokenCounter>(async () => 20);
    const options = { tailTokenBudget: 40 };
    expect(
      (await compact(dialogue(20), { ...options, tokenCounter: own }, session)).result?.toMessageId
    ).toBe("m15");
    expect(session).not.toHaveBeenCalled();
    expect(own).toHaveBeenCalledTimes(5);
    expect((await compact(dialogue(20), options, session)).result?.toMessageId).toBe("m17");
    expect(session.mock.calls[0]).toEqual([
      { messages: [dialogue(20)[19]], systemPrompt: "", contextBlocks: [] }
    ]);
    const broken = await compact(dialogue(20), options, () => Number.NaN);
    expect(broken.result).toBeNull();
  });

  it("passes on what summarize throws", async () => {
    const summarize = () => Promise.reject(new Error("no model"));
    await expect(compact(dialogue(10), { ...small, summarize })).rejects.toThrow("no model");
  });

  it("never separates a tool call from its result", async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 60 }),
        async (messages, protectHead, tailTokenBudget) => {
          const { result: range } = await compact(messages, {
            protectHead,
            tailTokenBudget,
            minTailMessages: 1
          });
          if (range === null) return;
          const first = messages.findIndex(({ id }) => id === range.fromMessageId);
          const last = messages.findIndex(({ id }) => id === range.toMessageId);
          expect(first).toBeGreaterThanOrEqual(protectHead);
          expect(last).toBeGreaterThanOrEqual(first);
          expect(last).toBeLessThan(messages.length - 1);
          expect([separates(messages, first), separates(messages, last + 1)]).toEqual([false, false]);
        }
      )
    );
  });
});
