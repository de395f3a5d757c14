import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonEqual, parseJson } from "./json";
import { LIMITS } from "./limits";

describe("parseJson", () => {
  it("gives back every JSON value unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        const result = parseJson(text);
        // A document may by chance carry a prototype key; then refusing it is right.
        if (result.ok) expect(JSON.stringify(result.value)).toBe(text);
        else expect(text).toMatch(/__proto__|constructor/);
      })
    );
  });

  it("never throws, whatever the text", () => {
    fc.assert(fc.property(fc.string(), (text) => void parseJson(text)));
  });

  it("refuses prototype keys but not the mere words", () => {
    expect(parseJson('{"a":{"__proto__":{"admin":true}}}')).toEqual({
      ok: false,
      reason: "contains a prototype key"
    });
    expect(parseJson('{"constructor":{"prototype":{}}}').ok).toBe(false);
    expect(parseJson('{"text":"the \\"__proto__\\": key"}').ok).toBe(true);
    expect(parseJson('{"constructor":"Brunel"}').ok).toBe(true);
  });

  it("refuses documents nested beyond the limit without overflowing the stack", () => {
    expect(parseJson("[".repeat(LIMITS.jsonDepth) + "]".repeat(LIMITS.jsonDepth)).ok).toBe(true);
    expect(parseJson("[".repeat(5_000) + "]".repeat(5_000)).ok).toBe(false);
  });
});

describe("jsonEqual", () => {
  it("agrees with comparing the canonical text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        expect(jsonEqual(left, structuredClone(left))).toBe(true);
        if (JSON.stringify(left) === JSON.stringify(right)) expect(jsonEqual(left, right)).toBe(true);
      })
    );
  });

  it("treats an undefined member as absent", () => {
    expect(jsonEqual({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(jsonEqual({ a: 1, b: null }, { a: 1 })).toBe(false);
  });
});
