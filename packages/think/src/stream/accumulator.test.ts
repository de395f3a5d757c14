import type { UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import { MessageAccumulator } from "./accumulator";

function partsOf(...chunks: object[]) {
  const accumulator = new MessageAccumulator("own");
  const effects = chunks.map((chunk) => accumulator.apply(chunk as UIMessageChunk));
  return { parts: accumulator.snapshot().parts, effects, accumulator };
}

const call = { toolCallId: "c", toolName: "read" };

describe("the message accumulator", () => {
  it("appends deltas to the part of the same id, and opens one when the start is missing", () => {
    const { parts } = partsOf(
      { type: "text-start", id: "a" },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "text-delta", id: "a", delta: "x" },
      { type: "text-delta", id: "a", delta: "y" },
      { type: "text-end", id: "a" }
    );
    expect(parts).toEqual([
      { type: "text", text: "xy", state: "done" },
      { type: "reasoning", text: "hm", state: "streaming" }
    ]);
  });

  it.each([
    [{ path: "/a" }, { path: "/a" }],
    ['{"path":"/a"}', { path: "/a" }],
    ["[1]", {}],
    ["{broken", {}],
    ["", {}],
    [null, {}],
    [undefined, {}],
    [[1], {}]
  ])("makes tool input %j an object", (input, expected) => {
    const { parts } = partsOf({ type: "tool-input-available", ...call, input });
    expect(parts).toEqual([
      { type: "tool-read", toolCallId: "c", state: "input-available", input: expected }
    ]);
  });

  it("never takes a settled tool call back", () => {
    const { parts } = partsOf(
      { type: "tool-input-available", ...call, input: {} },
      { type: "tool-output-available", toolCallId: "c", output: 1 },
      { type: "tool-output-available", toolCallId: "c", output: 2 },
      { type: "tool-output-error", toolCallId: "c", errorText: "late" },
      { type: "tool-input-error", ...call, input: {}, errorText: "later" },
      { type: "tool-output-denied", toolCallId: "c" },
      { type: "tool-approval-request", toolCallId: "c", approvalId: "a" }
    );
    expect(parts).toEqual([
      { type: "tool-read", toolCallId: "c", state: "output-available", input: {}, output: 1 }
    ]);
  });

  it("replaces preliminary outputs until the final one", () => {
    const { parts } = partsOf(
      { type: "tool-input-available", ...call, input: {} },
      { type: "tool-output-available", toolCallId: "c", output: "10 %", preliminary: true },
      { type: "tool-output-available", toolCallId: "c", output: "done" }
    );
    expect(parts).toEqual([
      { type: "tool-read", toolCallId: "c", state: "output-available", input: {}, output: "done" }
    ]);
  });

  it("reports an outcome of a call it does not hold", () => {
    const { parts, effects } = partsOf({ type: "tool-output-available", toolCallId: "earlier", output: 1 });
    expect(effects).toEqual([{ kind: "foreign-tool", toolCallId: "earlier" }]);
    expect(parts).toEqual([]);
  });

  it("updates data parts of the same id in place and does not store transient ones", () => {
    const { parts } = partsOf(
      { type: "data-w", id: "1", data: 1 },
      { type: "data-w", id: "1", data: 2 },
      { type: "data-w", data: 3 },
      { type: "data-w", data: 4, transient: true }
    );
    expect(parts).toEqual([
      { type: "data-w", id: "1", data: 2 },
      { type: "data-w", data: 3 }
    ]);
  });

  it("adopts the provider's message id and merges metadata", () => {
    const { accumulator } = partsOf(
      { type: "start", messageId: "theirs", messageMetadata: { a: 1 } },
      { type: "finish", messageMetadata: { b: 2 } }
    );
    expect(accumulator.snapshot()).toEqual({
      id: "theirs",
      role: "assistant",
      parts: [],
      metadata: { a: 1, b: 2 }
    });
  });

  it("keeps its own id and still takes the metadata when it carries on after another message (§1.8)", () => {
    const accumulator = new MessageAccumulator("own", { keepId: true });
    accumulator.apply({ type: "start", messageId: "theirs", messageMetadata: { a: 1 } });
    expect(accumulator.snapshot()).toMatchObject({ id: "own", metadata: { a: 1 } });
  });

  it("merges what a provider tells of a reasoning part bit by bit (§1.8)", () => {
    const { parts } = partsOf(
      { type: "reasoning-start", id: "r", providerMetadata: { a: { x: 1 } } },
      { type: "reasoning-delta", id: "r", delta: "hm", providerMetadata: { b: { y: 1 } } },
      { type: "reasoning-end", id: "r", providerMetadata: { b: { y: 2 } } }
    );
    expect(parts).toEqual([
      { type: "reasoning", text: "hm", state: "done", providerMetadata: { a: { x: 1 }, b: { y: 2 } } }
    ]);
  });

  it("takes files, sources and step marks as they come (§1.8)", () => {
    const file = { type: "file", mediaType: "image/png", url: "data:," };
    const url = { type: "source-url", sourceId: "1", url: "https://a.test", title: "A" };
    const document = {
      type: "source-document",
      sourceId: "2",
      mediaType: "text/plain",
      title: "B",
      filename: "b.txt"
    };
    expect(partsOf({ type: "start-step" }, file, url, document, { type: "finish-step" }).parts).toEqual([
      { type: "step-start" },
      file,
      url,
      document
    ]);
  });

  it("leads a tool call from its first word to its outcome (§1.8)", () => {
    const started = { type: "tool-input-start", ...call, title: "Read", providerExecuted: true };
    const states = (...chunks: object[]) => partsOf(started, started, ...chunks).parts;
    const base = { type: "tool-read", toolCallId: "c", title: "Read", providerExecuted: true };
    expect(states()).toEqual([{ ...base, state: "input-streaming" }]);
    expect(states({ type: "tool-input-error", ...call, input: "x", errorText: "bad" })).toEqual([
      { ...base, state: "output-error", input: {}, errorText: "bad" }
    ]);
    const available = { type: "tool-input-available", ...call, input: { a: 1 } };
    const asked = { type: "tool-approval-request", toolCallId: "c", approvalId: "p" };
    expect(states(available, asked)).toEqual([
      { ...base, state: "approval-requested", input: { a: 1 }, approval: { id: "p" } }
    ]);
    expect(states(available, asked, available)[0]).toMatchObject({ state: "approval-requested" });
    expect(states(available, { type: "tool-output-denied", toolCallId: "c" })[0]).toMatchObject({
      state: "output-denied"
    });
    expect(
      states(available, { type: "tool-output-error", toolCallId: "c", errorText: "no" })[0]
    ).toMatchObject({
      ...{ state: "output-error", errorText: "no" }
    });
  });

  it("lets a tool part be replaced from outside, keeps earlier snapshots as they were and goes on from the new part", () => {
    const { accumulator } = partsOf({ type: "tool-input-available", ...call, input: {} });
    const before = accumulator.snapshot();
    const answered = accumulator.updateTool(
      "c",
      (part) => ({ ...part, state: "output-available", output: 7 }) as never
    );
    expect(answered).toMatchObject({ toolCallId: "c", output: 7 });
    expect(accumulator.updateTool("c", (part) => part)).toBeUndefined();
    expect(accumulator.updateTool("other", (part) => ({ ...part }))).toBeUndefined();
    accumulator.apply({ type: "tool-output-available", toolCallId: "c", output: 8 });
    expect(accumulator.snapshot().parts).toEqual([
      expect.objectContaining({ state: "output-available", output: 7 })
    ]);
    expect(before.parts).toEqual([expect.objectContaining({ state: "input-available" })]);
  });

  it("is empty while it holds nothing but step marks", () => {
    expect(partsOf({ type: "start" }, { type: "start-step" }).accumulator.isEmpty).toBe(true);
    expect(partsOf({ type: "start-step" }, { type: "text-start", id: "a" }).accumulator.isEmpty).toBe(false);
  });
});
