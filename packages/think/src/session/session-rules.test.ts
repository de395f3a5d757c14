import { describe, expect, it } from "vitest";
import { checkSessionName, sessionNotFound } from "./session-rules";

describe("what is wrong with a session", () => {
  it("quotes a name that is too long up to its closing quote", () => {
    expect(() => checkSessionName("x".repeat(501))).toThrow(`got "${"x".repeat(50)}…".`);
  });

  it("quotes what is no text, and what is short, as it is", () => {
    expect(() => checkSessionName(undefined)).toThrow("got undefined.");
    expect(() => checkSessionName("  ")).toThrow('got "  ".');
    expect(sessionNotFound("nobody", "getSessions()").message).toContain('not found: "nobody".');
  });
});
