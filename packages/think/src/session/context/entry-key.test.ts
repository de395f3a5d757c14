import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entryKey } from "./entry-key";

describe("§8.7 keys of what a model writes", () => {
  it("are the slug of the title, whatever the content", () => {
    expect(entryKey("a", "  Deploy: the Guide! ")).toBe("deploy-the-guide");
    expect(entryKey("b", "Deploy the guide")).toBe("deploy-the-guide");
  });

  it("are a hash when the title has nothing usable, and carry a hash of the content without a title", () => {
    expect(entryKey("x", "会議")).toMatch(/^entry-[0-9a-z]+$/);
    expect(entryKey("x", "?!")).toMatch(/^entry-[0-9a-z]+$/);
    expect(entryKey("Some content")).toMatch(/^some-content-[0-9a-z]+$/);
    expect(entryKey("会議", " ")).toMatch(/^entry-[0-9a-z]+$/);
  });

  it("trap 39: differ for long shared prefixes and for non-Latin text", () => {
    const word = fc.string({
      minLength: 1,
      maxLength: 8,
      unit: fc.constantFrom("a", "b", "会", "議", "й", "é")
    });
    const prefix = fc.constantFrom("", "Notes ", "x".repeat(80), "会".repeat(90));
    fc.assert(
      fc.property(prefix, word, word, (start, left, right) => {
        fc.pre(left !== right);
        expect(entryKey("same", start + left)).not.toBe(entryKey("same", start + right));
        expect(entryKey(start + left)).not.toBe(entryKey(start + right));
        expect(entryKey("same", start + left).length).toBeLessThanOrEqual(80);
      })
    );
  });
});
