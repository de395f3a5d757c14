import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ThinkError } from "../shared/errors/think-error";
import { LIMITS } from "../shared/limits";
import { fitRow, utf8Bytes } from "./row-limit";

const message = (role: UIMessage["role"], ...parts: unknown[]): UIMessage => ({
  id: "m",
  role,
  parts: parts as UIMessage["parts"]
});
const output = (value: unknown) => ({
  type: "tool-x",
  toolCallId: "t",
  state: "output-available",
  input: { q: 1 },
  output: value
});
const text = (value: string) => ({ type: "text", text: value });

describe("§6.3 the row limit", () => {
  it("leaves a message that fits as it is, up to the last byte", () => {
    const frame = JSON.stringify(message("user", text(""))).length;
    const exact = message("user", text("x".repeat(LIMITS.messageBytes - frame)));
    expect(fitRow(exact).message).toBe(exact);
    const over = message("user", text("x".repeat(LIMITS.messageBytes - frame + 1)));
    expect(fitRow(over).message).not.toBe(over);
  });

  it("counts bytes of UTF-8, not characters", () => {
    const wide = message("user", text("€".repeat(700_000)));
    expect(JSON.stringify(wide).length).toBeLessThan(LIMITS.messageBytes);
    expect(fitRow(wide).message).not.toBe(wide);
  });

  it("compacts every long tool output of an assistant and leaves its texts alone when that is enough", () => {
    const long = "y".repeat(5_000);
    const { message: cut, json } = fitRow(
      message("assistant", output("x".repeat(1_900_000)), output({ a: long }), output("short"), text(long))
    );
    expect(json).toBe(JSON.stringify(cut));
    expect(cut.parts[0]).toMatchObject({
      state: "output-available",
      output: expect.stringContaining("[truncated 1900000 chars]"),
      input: { q: 1 }
    });
    expect(cut.parts[1]).toMatchObject({ output: { a: expect.stringContaining("[truncated 5000 chars]") } });
    expect(cut.parts[2]).toEqual(output("short"));
    expect(cut.parts[3]).toEqual(text(long));
  });

  it("then truncates texts, oldest first, and stops as soon as the message fits", () => {
    const long = (letter: string) => text(letter.repeat(800_000));
    const { message: cut } = fitRow(message("assistant", long("a"), long("b"), long("c"), text("tail")));
    const texts = cut.parts.map((part) => (part.type === "text" ? part.text : ""));
    expect(texts[0]).toMatch(/^\[Text truncated: 800000 chars.*\] a{500}$/);
    expect(texts.slice(1)).toEqual(["b".repeat(800_000), "c".repeat(800_000), "tail"]);
  });

  it("does not touch tool outputs of other roles", () => {
    const { message: cut } = fitRow(message("user", output("o".repeat(5_000)), text("x".repeat(1_900_000))));
    expect(cut.parts[0]).toEqual(output("o".repeat(5_000)));
    expect(cut.parts[1]).toMatchObject({ text: expect.stringContaining("Text truncated") });
  });

  it("keeps the rest of an answer when reasoning, a file or a tool input is what does not fit", () => {
    const url = `data:image/png;base64,${"A".repeat(1_900_000)}`;
    for (const part of [
      { type: "reasoning", text: "r".repeat(1_900_000) },
      { type: "file", mediaType: "image/png", url },
      { ...output("fine"), input: { content: "i".repeat(1_900_000) } }
    ]) {
      const { message: cut } = fitRow(message("assistant", part, text("the answer")));
      expect(cut.parts[1]).toEqual(text("the answer"));
      expect(utf8Bytes(JSON.stringify(cut))).toBeLessThan(10_000);
    }
  });

  it("refuses what cannot be cut, and names limit and remedy", () => {
    const file = {
      type: "file",
      mediaType: "image/png",
      url: `data:image/png;base64,${"A".repeat(1_900_000)}`
    };
    const attempt = () => fitRow(message("user", file));
    expect(attempt).toThrow(/at most 1800000 can be stored.*by reference/);
    expect(attempt).toThrow(ThinkError);
  });

  it("always fits or refuses, cuts the same way each time, and leaves what it has cut alone", () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string({ maxLength: 3_000, unit: "binary" }) }),
      fc.record({ type: fc.constant("reasoning"), text: fc.string({ maxLength: 3_000 }) }),
      fc.jsonValue().map(output),
      fc.string({ minLength: 2_000, maxLength: 4_000 }).map(output)
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.constantFrom("user" as const, "assistant" as const),
        (parts, role) => {
          const original = message(role, ...parts);
          const limit = 4_000;
          try {
            const first = fitRow(original, limit);
            expect(utf8Bytes(first.json)).toBeLessThanOrEqual(limit);
            expect(JSON.parse(first.json)).toEqual(JSON.parse(JSON.stringify(first.message)));
            expect(fitRow(structuredClone(original), limit).json).toBe(first.json);
            expect(fitRow(first.message, limit).message).toBe(first.message);
          } catch (error) {
            if (!ThinkError.is(error)) throw error;
            expect(utf8Bytes(JSON.stringify(original))).toBeGreaterThan(limit);
          }
        }
      )
    );
  });
});
