/** A planned model: what is planned is what is streamed, and an interrupted answer goes on. */
import { describe, expect, it } from "vitest";
import { createPlannedModel } from "./model";
import { resume } from "./resume";
import type { Plan, Prompt, Situation, StreamPart } from "./types";

const question: Prompt = [{ role: "user", content: [{ type: "text", text: "Go" }] }];

async function partsOf(plan: Plan, prompt = question, signal?: AbortSignal): Promise<StreamPart[]> {
  const model = createPlannedModel(() => plan, {
    generateId: () => "id",
    pause: async (_, s) => s?.throwIfAborted()
  });
  const { stream } = await model.doStream({ prompt, ...(signal ? { abortSignal: signal } : {}) });
  const parts: StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe("a planned model", () => {
  it("streams text in pieces and calls tools, several in one step", async () => {
    const call = (n: number) => ({ type: "tool-call" as const, call: { toolName: "t", input: { n } } });
    const parts = await partsOf([{ type: "text", text: "one two", pace: "steady" }, call(1), call(2)]);
    const deltas = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    expect(deltas).toEqual(["one ", "two"]);
    expect(parts.filter(({ type }) => type === "tool-call")).toHaveLength(2);
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "tool-calls" } });
  });

  it("hands the request and the results since then to the plan", async () => {
    let seen: Situation | undefined;
    const model = createPlannedModel((situation) => ((seen = situation), []));
    const output = { type: "json" as const, value: { ok: true } };
    await model.doGenerate({
      prompt: [
        ...question,
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName: "t", input: {} }] },
        { role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "t", output }] }
      ]
    });
    expect(seen).toMatchObject({ request: "Go", results: [{ toolName: "t", output: { ok: true } }] });
  });

  it("takes a request to carry on for what it is", async () => {
    let seen: Situation | undefined;
    const model = createPlannedModel((situation) => ((seen = situation), []));
    const carryOn = "Continue from where you stopped. Do not repeat what you have already said or done.";
    await model.doGenerate({
      prompt: [
        ...question,
        { role: "assistant", content: [{ type: "text", text: "one tw" }] },
        { role: "user", content: [{ type: "text", text: carryOn }] }
      ]
    });
    expect(seen).toMatchObject({ request: "Go", alreadySaid: "one tw" });
  });

  it("stops when it is told to", async () => {
    const plan: Plan = [{ type: "text", text: "one two", pace: "slow" }];
    await expect(partsOf(plan, question, AbortSignal.abort())).rejects.toThrow("aborted");
  });
});

describe("an interrupted answer", () => {
  const plan: Plan = [{ type: "text", text: "one two three", pace: "brisk" }];

  it("goes on where it stopped", () => {
    expect(resume(plan, "one two")).toMatchObject([{ text: " three" }]);
    expect(resume(plan, "one two three")).toEqual([]);
  });

  it("begins again when the words are not its own", () => {
    expect(resume(plan, "something else")).toEqual(plan);
  });
});
