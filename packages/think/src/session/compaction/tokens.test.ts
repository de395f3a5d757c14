import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { call, result, say, tools } from "./messages.test-support";
import { estimateMessagesTokens, estimateMessageTokens, estimateStringTokens } from "./tokens";

describe("§8.12 token heuristics", () => {
  it.each([
    ["", 0],
    ["abcd", 2],
    ["a b c", 4],
    ["a ".repeat(10), 13],
    ["x".repeat(41), 11],
    [" \n\t ", 1]
  ])("a string is a quarter of its characters or 1.3 times its words: %j", (text, tokens) => {
    expect(estimateStringTokens(text)).toBe(tokens);
  });

  it("equals the formula for any text", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("word", " ", "\n", "é", "a"), { maxLength: 60 }), (pieces) => {
        const text = pieces.join("");
        const words = text.split(/\s+/).filter(Boolean).length;
        expect(estimateStringTokens(text)).toBe(Math.ceil(Math.max(text.length / 4, (words * 13) / 10)));
      })
    );
  });

  it("a message is 4 and its texts, reasonings, tool inputs and outputs", () => {
    expect(estimateMessageTokens(say("m", "x".repeat(40)))).toBe(14);
    expect(
      estimateMessageTokens({ parts: [{ type: "reasoning", text: "x".repeat(40) }, { type: "step-start" }] })
    ).toBe(14);
    const input = estimateStringTokens(JSON.stringify({ query: "t" }));
    expect(estimateMessageTokens(tools("m", call("t")))).toBe(4 + input);
    expect(estimateMessageTokens(tools("m", result("t", "x".repeat(40))))).toBe(4 + input + 11);
    expect(estimateMessagesTokens([say("a", "abcd"), say("b", "abcd")])).toBe(12);
  });

  it("never throws, whatever a message holds", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const throwing = {
      toJSON() {
        throw new Error("no");
      }
    };
    for (const output of [cycle, 10n, throwing, Symbol("s"), () => 1, Number.NaN]) {
      expect(estimateMessageTokens(tools("m", result("t", output)))).toBeGreaterThanOrEqual(4);
    }
    const odd = [null, 7, "part", {}, { type: 3 }, { type: "text" }, { type: "text", text: 5 }];
    expect(estimateMessageTokens({ parts: odd as unknown as UIMessage["parts"] })).toBeGreaterThanOrEqual(4);
    expect(estimateMessageTokens({} as UIMessage)).toBe(4);
  });
});
