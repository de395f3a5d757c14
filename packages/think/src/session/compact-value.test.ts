import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactValue } from "./compact-value";

const kindOf = (value: unknown) => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);
const size = (value: unknown) => JSON.stringify(value)?.length ?? 0;

describe("§6.3 compacting a tool output", () => {
  it("keeps the outer shape and the limit, whatever the value", () => {
    const value = fc.jsonValue({ maxDepth: 12, stringUnit: "binary" });
    fc.assert(
      fc.property(value, fc.integer({ min: 100, max: 1_000 }), fc.nat(5), (small, budget, copies) => {
        const large: unknown = copies === 0 ? small : Array.from({ length: copies * 50 }, () => small);
        for (const input of [large, { large, other: small }, JSON.stringify(large)]) {
          const compacted = compactValue(input, budget);
          expect(size(compacted)).toBeLessThanOrEqual(Math.max(budget, 0));
          expect(kindOf(compacted)).toBe(kindOf(input));
          if (size(input) <= budget) expect(compacted).toBe(input);
          expect(compactValue(compacted, budget)).toBe(compacted);
        }
      }),
      { numRuns: 300 }
    );
  });

  it("says how much of a string is missing", () => {
    const cut = compactValue("x".repeat(5_000), 1_000);
    expect(cut).toMatch(/^x{900,}… \[truncated 5000 chars\]$/);
  });

  it("keeps small members of an object and shares the rest among large ones", () => {
    const cut = compactValue(
      { path: "/a", content: "x".repeat(50_000), ok: true, log: "y".repeat(50_000) },
      1_000
    );
    expect(cut).toMatchObject({ path: "/a", ok: true });
    expect(cut).toHaveProperty("content", expect.stringMatching(/^x{300,}.*truncated 50000 chars/));
    expect(cut).toHaveProperty("log", expect.stringMatching(/^y{300,}.*truncated 50000 chars/));
  });

  it("shortens an array and marks the end", () => {
    const cut = compactValue(
      Array.from({ length: 1_000 }, (_, index) => ({ index })),
      1_000
    ) as unknown[];
    expect(cut[0]).toEqual({ index: 0 });
    expect(cut.at(-1)).toBe(`[truncated ${1_000 - cut.length + 1} items]`);
  });

  it("says so when nothing of an object fits", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${index}`.repeat(500), "x".repeat(500)])
    );
    expect(compactValue(wide, 200)).toMatchObject({ __truncated: true, __truncatedChars: size(wide) });
  });

  it("replaces what is nested too deep", () => {
    let deep: unknown = "x".repeat(5_000);
    for (let level = 0; level < 20; level += 1) deep = { deep };
    expect(JSON.stringify(compactValue(deep, 1_000))).toMatch(
      /^(\{"deep":){8}"\[truncated \d+ chars\]"\}{8}$/
    );
  });
});
