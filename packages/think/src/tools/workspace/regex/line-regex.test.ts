import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineRegex } from "./line-regex";

function found(
  pattern: string,
  line: string,
  options: { caseSensitive?: boolean; fixedString?: boolean } = {}
): boolean {
  const { caseSensitive = false, fixedString = false } = options;
  const regex = lineRegex({ pattern, caseSensitive, fixedString });
  if (!regex.ok) throw new Error(regex.error);
  return regex.matcher.search(line, 0, line.length) !== -1;
}

function errorOf(pattern: string): string {
  const regex = lineRegex({ pattern, caseSensitive: false, fixedString: false });
  return regex.ok ? "" : regex.error;
}

describe("the grep regular expressions", () => {
  it.each([
    ["^import\\b", "import x", "x import"],
    ["foo$", "a foo", "foo a"],
    ["\\bcat\\b", "a cat.", "concat"],
    ["\\Bcat", "concat", "a cat"],
    ["a{2,3}b", "xaab", "xab"],
    ["colou?r", "color", "colr"],
    ["(?:ab|cd)+e", "abcde", "abce e"],
    ["(?<year>\\d{4})-\\d\\d", "on 2026-11", "on 226-11"],
    ["[^a-z]", "abc1", "abc"],
    ["[\\w-]+@x", "a-b@x", "@x"],
    ["\\u0041\\x42\\t", "AB\t", "AB t"],
    ["function {", "function {", "function"],
    ["a|^$", "", "b"],
    ["(a*)*b", "aab", "aac"]
  ])("%s finds %j and not %j", (pattern, hit, miss) => {
    expect(found(pattern, hit)).toBe(true);
    expect(found(pattern, miss)).toBe(false);
  });

  it("ignores case unless told otherwise, also beyond ASCII and in classes", () => {
    expect(found("ÄRGER", "kein Ärger")).toBe(true);
    expect(found("[A-C]x", "bX")).toBe(true);
    expect(found("[^a]", "A")).toBe(false);
    expect(found("world", "World", { caseSensitive: true })).toBe(false);
  });

  it("takes plain text literally", () => {
    expect(found("(a+)[b]{2}", "x (a+)[b]{2} y", { fixedString: true })).toBe(true);
    expect(found("a.c", "abc", { fixedString: true })).toBe(false);
  });

  it("explains invalid and unsupported patterns in one sentence", () => {
    expect(errorOf("(")).toContain("Invalid regex");
    expect(errorOf("(?=a)b")).toContain("Look-ahead");
    expect(errorOf("(a)\\1")).toContain("Back-references");
    expect(errorOf("\\p{L}")).toContain("Unicode property");
    expect(errorOf("(((a{900}){900}){900})")).toContain("too large");
    expect(errorOf("((({1}){900}){900}){900}".replace("{1}", ""))).toContain("too large");
    expect(errorOf(`${"(".repeat(900)}a${")".repeat(900)}`)).toContain("nested");
  });

  it("stays fast on patterns that explode in a backtracking matcher", () => {
    const line = `${"a".repeat(100_000)}!`;
    const started = performance.now();
    for (const pattern of [
      "(a+)+$",
      "(a|aa)+$",
      "(.*)*x",
      "a.*a.*a.*a.*b",
      "(a?){50}a{50}b",
      "^(([a-z])+.)+[A-Z]([a-z])+$"
    ]) {
      expect(found(pattern, line)).toBe(false);
    }
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it("gives up with a sentence when a pattern needs a new state for every character", () => {
    let seed = 1;
    const line = Array.from({ length: 100_000 }, () =>
      (seed = (seed * 48271) % 2147483647) % 2 === 0 ? "a" : "b"
    ).join("");
    expect(() => found("a.{900}c", line)).toThrow("too expensive");
  });

  it("agrees with the platform's matcher on random patterns and lines", () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      "B",
      ".",
      "\\w",
      "\\b",
      "^",
      "$",
      "[ab]",
      "[^a]",
      "\\s",
      "(a|b)",
      "(?:ab)",
      "\\B"
    );
    const quantifier = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "+?");
    const term = fc
      .tuple(atom, quantifier)
      .map(([node, suffix]) => (/^(\^|\$|\\b|\\B)$/.test(node) ? node : node + suffix));
    const sequence = fc.array(term, { minLength: 1, maxLength: 4 }).map((terms) => terms.join(""));
    const pattern = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("|"));
    const line = fc.string({ unit: fc.constantFrom("a", "b", "A", " ", "c", "_"), maxLength: 12 });
    fc.assert(
      fc.property(pattern, line, fc.boolean(), (source, text, caseSensitive) => {
        const expected = new RegExp(source, caseSensitive ? "" : "i").test(text);
        expect(found(source, text, { caseSensitive })).toBe(expected);
      }),
      { numRuns: 1000 }
    );
  });
});
