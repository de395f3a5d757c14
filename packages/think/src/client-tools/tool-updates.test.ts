import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import type { ToolPart } from "../session/parts";
import { updateMessage, updateToolPart, type ToolUpdate } from "./tool-updates";

const answer = (part: ToolPart) => updateToolPart(part, { kind: "result", output: 1 });

const STATES = [
  "input-streaming",
  "input-available",
  "approval-requested",
  "approval-responded",
  "output-available",
  "output-error",
  "output-denied"
] as const;

const part = (state: string, extra: Record<string, unknown> = {}, type = "tool-look"): ToolPart =>
  ({ type, toolName: "look", toolCallId: "a", state, input: { at: 1 }, ...extra }) as unknown as ToolPart;

const answerable = ["input-available", "approval-requested", "approval-responded"];
const unsettled = ["input-streaming", ...answerable];

describe("the update of a tool part (§7.2)", () => {
  it.each<[string, ToolUpdate, readonly string[], Record<string, unknown>]>([
    [
      "result",
      { kind: "result", output: 7 },
      answerable,
      { state: "output-available", output: 7, preliminary: false }
    ],
    ["failure", { kind: "failure", errorText: "no" }, answerable, { state: "output-error", errorText: "no" }],
    [
      "failure without a text",
      { kind: "failure" },
      answerable,
      { state: "output-error", errorText: "Tool execution denied by user" }
    ],
    [
      "approval",
      { kind: "approval", approved: true },
      ["input-available", "approval-requested"],
      { state: "approval-responded", approval: { id: "x", approved: true } }
    ],
    [
      "denial",
      { kind: "approval", approved: false },
      ["input-available", "approval-requested"],
      { state: "output-denied", approval: { id: "x", approved: false } }
    ],
    [
      "late output",
      { kind: "late-output", output: 7 },
      unsettled,
      { state: "output-available", output: 7, preliminary: false }
    ],
    [
      "preliminary late output",
      { kind: "late-output", output: 7, preliminary: true },
      unsettled,
      { state: "output-available", output: 7, preliminary: true }
    ],
    [
      "late failure",
      { kind: "late-failure" },
      unsettled,
      { state: "output-error", errorText: "Tool execution failed" }
    ]
  ])("a %s changes exactly the states it is meant for (trap 30)", (_name, update, states, fields) => {
    for (const type of ["tool-look", "dynamic-tool"]) {
      for (const state of STATES) {
        const before = part(state, { approval: { id: "x" } }, type);
        const after = updateToolPart(before, update);
        if (states.includes(state)) expect(after).toEqual({ ...before, ...fields });
        else expect(after).toBe(before);
      }
    }
  });

  it("lets a final late outcome replace a preliminary one, and nothing replace the final one", () => {
    const preliminary = part("output-available", { output: 1, preliminary: true });
    const final = updateToolPart(preliminary, { kind: "late-output", output: 2 });
    expect(final).toMatchObject({ output: 2, preliminary: false });
    expect(updateToolPart(final, { kind: "late-output", output: 3 })).toBe(final);
    expect(updateToolPart(preliminary, { kind: "late-failure", errorText: "x" })).toMatchObject({
      state: "output-error",
      errorText: "x"
    });
  });

  it("replaces a paused execution's output by its outcome, once and only its own", () => {
    const paused = part("output-available", { output: { status: "paused", executionId: "e1" } });
    const update = (executionId: string): ToolUpdate => ({ kind: "execution", executionId, output: "done" });
    expect(updateToolPart(paused, update("e2"))).toBe(paused);
    const decided = updateToolPart(paused, update("e1"));
    expect(decided).toMatchObject({ state: "output-available", output: "done", preliminary: false });
    expect(updateToolPart(decided, update("e1"))).toBe(decided);
    expect(updateToolPart(part("input-available"), update("e1"))).toMatchObject({ state: "input-available" });
  });
});

describe("the update of a message", () => {
  const message = (...parts: ToolPart[]): UIMessage => ({ id: "m", role: "assistant", parts });

  it("changes the first part with the call that the update applies to, and no other", () => {
    const settled = part("output-error", { errorText: "x" });
    const open = part("input-available");
    const updated = updateMessage(message(settled, open, open), "a", answer);
    expect(updated?.parts).toEqual([
      settled,
      { ...open, state: "output-available", output: 1, preliminary: false },
      open
    ]);
  });

  it("leaves messages alone that do not hold the call, and those of other roles", () => {
    expect(updateMessage(message(part("input-available")), "b", answer)).toBeUndefined();
    const forged = { ...message(part("input-available")), role: "user" as const };
    expect(updateMessage(forged, "a", answer)).toBeUndefined();
  });
});
