import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseGlob } from "./glob";

function matches(pattern: string, path: string): boolean {
  const parsed = parseGlob(pattern);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.glob.matches(path);
}

describe("globs", () => {
  it.each([
    ["**/*.ts", "/a.ts", true],
    ["**/*.ts", "/src/deep/a.ts", true],
    ["*.ts", "/src/a.ts", false],
    ["/src/**", "/src/a/b", true],
    ["/src/**", "/srcs/a", false],
    ["/src/**/test/*.ts", "/src/test/a.ts", true],
    ["/src/**/test/*.ts", "/src/a/b/test/a.ts", true],
    ["/a?c", "/abc", true],
    ["/a?c", "/a/c", false],
    ["/[a-c]x", "/bx", true],
    ["/[!a-c]x", "/bx", false],
    ["/[!a-c]x", "/dx", true],
    ["/[]]x", "/]x", true],
    ["/{a,b{c,d}}.md", "/bd.md", true],
    ["/{a,b{c,d}}.md", "/b.md", false],
    ["/a\\*b", "/a*b", true],
    ["/a\\*b", "/axb", false],
    ["/{alone}", "/{alone}", true],
    ["/[open", "/[open", true],
    ["./src/*.ts", "/src/a.ts", true],
    ["/a+b(c).ts", "/a+b(c).ts", true],
    ["**", "/any/thing", true]
  ])("%s on %s is %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it("stays fast on patterns that explode in a backtracking matcher", () => {
    const started = performance.now();
    expect(matches(`/${"*a".repeat(60)}b`, `/${"a".repeat(4000)}`)).toBe(false);
    expect(matches(`/${"**/".repeat(80)}x`, `/${"d/".repeat(1000)}y`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it("refuses braces that unfold without end, and very long patterns", () => {
    expect(parseGlob("{a,b}".repeat(20))).toMatchObject({
      ok: false,
      error: expect.stringContaining("braces")
    });
    expect(parseGlob("a".repeat(2000))).toMatchObject({ ok: false });
  });

  it("knows the fixed start and end of a pattern", () => {
    expect(parseGlob("/src/**/*.ts")).toMatchObject({
      glob: { prefix: "/src/", suffix: ".ts", portable: true }
    });
    expect(parseGlob("/src/{lib,list}/*.ts")).toMatchObject({ glob: { prefix: "/src/", suffix: "" } });
    expect(parseGlob("/exact.md")).toMatchObject({ glob: { prefix: "/exact.md" } });
    expect(parseGlob("**/**/x")).toMatchObject({ glob: { portable: false } });
  });

  it("matches every path by its own escaped text, and always within prefix and suffix", () => {
    const name = fc.string({
      unit: fc.constantFrom("a", "b", ".", "*", "[", "]", "{", "}", ",", "?", "😀"),
      minLength: 1,
      maxLength: 6
    });
    const segment = name.filter((text) => !/^\.{1,2}$/.test(text));
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), name, (names, other) => {
        const path = `/${names.join("/")}`;
        const escaped = path.replace(/[*?[\]{},\\]/g, "\\$&");
        expect(matches(escaped, path)).toBe(true);
        const parsed = parseGlob(other);
        if (parsed.ok && parsed.glob.matches(path)) {
          expect(path.startsWith(parsed.glob.prefix)).toBe(true);
          expect(path.endsWith(parsed.glob.suffix)).toBe(true);
        }
      })
    );
  });
});
