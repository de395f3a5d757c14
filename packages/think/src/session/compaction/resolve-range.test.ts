import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COMPACTION_LIMITS } from "../../shared/limits";
import { call, dialogue, histories, result, say, separates, tools } from "./messages.test-support";
import { applyOverlays, type StoredCompaction } from "./overlay";
import { resolveRange } from "./resolve-range";

const propose = (fromMessageId: string, toMessageId: string, summary = "new") => ({
  fromMessageId,
  toMessageId,
  summary
});

const stored: StoredCompaction = { ...propose("m2", "m4", "old"), id: "x", createdAt: 1 };

describe("§8.10 the range that is stored", () => {
  const path = dialogue(9);
  const history = applyOverlays(path, [stored]);

  it("is the proposed one when there are no overlays", () => {
    expect(resolveRange(propose("m2", "m5"), path, [])).toEqual({ ...propose("m2", "m5"), replaced: 4 });
  });

  it("trap 39: starts where the first overlay of the path started", () => {
    expect(resolveRange(propose("m5", "m6"), history, [stored])).toEqual({
      ...propose("m2", "m6"),
      replaced: 3
    });
    expect(resolveRange(propose("m1", "m6"), history, [stored])).toEqual({
      ...propose("m1", "m6"),
      replaced: 4
    });
  });

  it("trap 39: never ends with the id of a summary", () => {
    expect(resolveRange(propose("compaction_x", "m6"), history, [stored])).toMatchObject(propose("m2", "m6"));
    expect(resolveRange(propose("m0", "compaction_x"), history, [stored])).toMatchObject(propose("m0", "m4"));
    expect(resolveRange(propose("compaction_x", "compaction_x"), history, [stored])).toMatchObject(
      propose("m2", "m4")
    );
  });

  it("leaves an overlay alone that comes after it", () => {
    expect(resolveRange(propose("m0", "m1"), history, [stored])).toMatchObject(propose("m0", "m1"));
  });

  it("does not exist for an end that is not in the history, hidden ones included", () => {
    expect(resolveRange(propose("m0", "gone"), path, [])).toBeNull();
    expect(resolveRange(propose("m0", "m3"), history, [stored])).toBeNull();
  });

  it("does not exist for a start that is unknown or after the end", () => {
    expect(resolveRange(propose("gone", "m3"), path, [])).toBeNull();
    expect(resolveRange(propose("m5", "m3"), path, [])).toBeNull();
    expect(resolveRange(propose("m3", "m6"), history, [stored])).toMatchObject(propose("m2", "m6"));
  });

  it("does not exist for what is no result, or says nothing", () => {
    for (const odd of [null, undefined, 5, "x", [], {}, { ...propose("m0", "m1"), summary: 3 }])
      expect(resolveRange(odd, path, [])).toBeNull();
    expect(resolveRange(propose("m0", "m1", " "), path, [])).toBeNull();
  });

  it("cuts a summary that is far too long", () => {
    const long = resolveRange(propose("m0", "m1", "x".repeat(3_000_000)), path, []);
    expect(long?.summary).toHaveLength(COMPACTION_LIMITS.summaryChars);
  });

  it("shrinks rather than separate a call from its result, whatever the function proposes", () => {
    const split = [say("u"), tools("a", call("t")), tools("b", result("t")), say("v")];
    expect(resolveRange(propose("b", "v"), split, [])).toMatchObject(propose("v", "v"));
    expect(resolveRange(propose("u", "a"), split, [])).toMatchObject(propose("u", "u"));
    expect(resolveRange(propose("a", "a"), split, [])).toBeNull();
    const position = fc.integer({ min: 0, max: 23 });
    fc.assert(
      fc.property(histories, position, position, (messages, from, to) => {
        const range = resolveRange(propose(`m${from}`, `m${to}`), messages, []);
        if (range === null) return;
        const first = messages.findIndex(({ id }) => id === range.fromMessageId);
        const last = messages.findIndex(({ id }) => id === range.toMessageId);
        expect(first).toBeGreaterThanOrEqual(from);
        expect(last).toBeLessThanOrEqual(to);
        expect([separates(messages, first), separates(messages, last + 1)]).toEqual([false, false]);
      })
    );
  });
});
