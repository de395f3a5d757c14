import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  alignBoundaryBackward,
  alignBoundaryForward,
  findTailCutByTokens,
  isCompactionMessage,
  sanitizeToolPairs
} from "./boundaries";
import { call, dialogue, histories, ids, result, say, separates, tools } from "./messages.test-support";

describe("§8.11 where a history may be cut", () => {
  const split = [say("u"), tools("a", call("t")), tools("b", result("t")), say("v"), say("w")];

  it("moves forward past the result of a call, and back before the call", () => {
    expect(alignBoundaryForward(split, 2)).toBe(3);
    expect(alignBoundaryBackward(split, 2)).toBe(1);
    expect(alignBoundaryForward(split, 1)).toBe(1);
    expect(alignBoundaryBackward(split, 4)).toBe(4);
  });

  it("ids that a provider uses again tie nothing once their calls are settled", () => {
    const messages = [tools("a", result("call_0")), say("u"), tools("b", result("call_0"))];
    expect([0, 1, 2, 3].map((cut) => alignBoundaryForward(messages, cut))).toEqual([0, 1, 2, 3]);
  });

  it("a call that waits stays behind the cut; one that a user has passed over does not hold anything", () => {
    expect(alignBoundaryBackward([say("u"), tools("a", call("t"))], 2)).toBe(1);
    expect(alignBoundaryForward([say("u"), tools("a", call("t"))], 2)).toBe(2);
    expect(alignBoundaryBackward([tools("a", call("t")), say("u"), say("v")], 2)).toBe(2);
  });

  it("a cut never lies between a call and its result, and moves no further than it must", () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: -2, max: 30 }), (messages, index) => {
        const wanted = Math.min(Math.max(0, index), messages.length);
        const allowed = Array.from({ length: messages.length + 1 }, (_, cut) => cut).filter(
          (cut) => !separates(messages, cut)
        );
        expect(alignBoundaryBackward(messages, index)).toBe(allowed.findLast((cut) => cut <= wanted));
        expect(alignBoundaryForward(messages, index)).toBe(
          allowed.find((cut) => cut >= wanted) ?? messages.length
        );
      })
    );
  });
});

describe("§8.11 the tail", () => {
  const ten = dialogue(10);

  it("is what fits the budget", () => {
    expect(findTailCutByTokens(ten, 0, 50, 1, () => 10)).toBe(5);
    expect(findTailCutByTokens(ten, 0, 49, 1, () => 10)).toBe(6);
  });

  it("has its least number of messages, and at least one, whatever they weigh", () => {
    expect(findTailCutByTokens(ten, 0, 5, 4, () => 10)).toBe(6);
    expect(findTailCutByTokens(ten, 0, 0, 0, () => 10)).toBe(9);
    expect(findTailCutByTokens(ten, 0, Number.NaN, 2, () => 10)).toBe(8);
  });

  it("never reaches into the head", () => {
    expect(findTailCutByTokens(ten, 7, 1_000, 2, () => 10)).toBe(7);
    expect(findTailCutByTokens(ten, 10, 0, 2, () => 10)).toBe(10);
  });

  it("moves back so that a call keeps its result", () => {
    const messages = [say("u"), tools("a", call("t")), tools("b", result("t")), say("v")];
    expect(findTailCutByTokens(messages, 0, 0, 2, () => 10)).toBe(1);
  });
});

describe("§8.11 pairs", () => {
  it("calls without a result are taken out, and messages that had nothing else", () => {
    const messages = [
      tools("a", { type: "step-start" }, call("lost")),
      tools("b", call("t"), { type: "text", text: "wait" }, call("lost")),
      tools("c", result("t"))
    ];
    const clean = sanitizeToolPairs(messages);
    expect(ids(clean)).toEqual(["b", "c"]);
    expect(clean[0]?.parts).toEqual([call("t"), { type: "text", text: "wait" }]);
    expect(clean[1]).toBe(messages[2]);
  });

  it("every call that is left has a result", () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const parts = sanitizeToolPairs(messages).flatMap((message) => message.parts);
        const settled = new Set(
          parts.flatMap((part) => ("toolCallId" in part && "output" in part ? [part.toolCallId] : []))
        );
        const calls = parts.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []));
        expect(calls.filter((id) => !settled.has(id))).toEqual([]);
      })
    );
  });

  it("summaries are known by their id", () => {
    expect(isCompactionMessage({ id: "compaction_1" })).toBe(true);
    expect(isCompactionMessage({ id: "m1" })).toBe(false);
  });
});
