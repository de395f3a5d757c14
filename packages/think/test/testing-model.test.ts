import { generateText, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  cutOff,
  delay,
  fakeClock,
  file,
  finish,
  gate,
  hang,
  reasoning,
  scriptedModel,
  source,
  streamError,
  streamPart,
  text,
  throwError,
  toolCall,
  usage,
  type ScriptedModel
} from "@cloudflare/think/testing";

const tools = {
  add: tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
};

function stream(model: ScriptedModel, abortSignal?: AbortSignal) {
  return streamText({
    model,
    prompt: "Go",
    tools,
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    onError: () => {},
    ...(abortSignal === undefined ? {} : { abortSignal })
  });
}

async function chunksOf(model: ScriptedModel, abortSignal?: AbortSignal) {
  const chunks = [];
  const uiStream = stream(model, abortSignal).toUIMessageStream({
    onError: (error) => `told: ${String(error)}`
  });
  for await (const chunk of uiStream) chunks.push(chunk);
  return chunks;
}

describe("a scripted model under streamText", () => {
  it("plays one entry per step and runs the tools it calls", async () => {
    const model = scriptedModel([[text("Let me add."), toolCall("add", { a: 1, b: 2 })], "It is 3."]);
    const result = stream(model);
    expect(await result.text).toBe("It is 3.");
    const steps = await result.steps;
    expect(steps.map((step) => step.finishReason)).toEqual(["tool-calls", "stop"]);
    expect(steps[0]?.toolResults[0]?.output).toBe(3);
    expect(model.calls.map((call) => call.status)).toEqual(["finished", "finished"]);
  });

  it("cuts text by the part's size, the model's size or an explicit list", async () => {
    const script = [
      [text("abcd", { deltaSize: 3 }), "héllo", text(["x", "yz"]), text("👍🏽", { deltaSize: 1 }), ""]
    ];
    const chunks = await chunksOf(scriptedModel(script, { deltaSize: 2 }));
    const deltas = chunks.flatMap((chunk) => (chunk.type === "text-delta" ? [chunk.delta] : []));
    expect(deltas).toEqual(["abc", "d", "hé", "ll", "o", "x", "yz", "👍", "🏽"]);
  });

  it("refuses a delta size that would never end", async () => {
    await expect(chunksOf(scriptedModel([text("abc", { deltaSize: 0 })]))).rejects.toThrow("at least 1");
  });

  it("streams tool input ahead of the call when asked to", async () => {
    const script = [[toolCall("add", { a: 1, b: 2 }, { id: "mine", deltaSize: 5 })], "done"];
    const chunks = await chunksOf(scriptedModel(script));
    const deltas = chunks.flatMap((chunk) =>
      chunk.type === "tool-input-delta" ? [chunk.inputTextDelta] : []
    );
    expect(deltas.join("")).toBe('{"a":1,"b":2}');
    expect(deltas.length).toBeGreaterThan(1);
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: "tool-output-available", toolCallId: "mine" })
    );
  });

  it("gives tool calls ids that do not occur in the conversation yet", async () => {
    const call = toolCall("add", { a: 1, b: 1 });
    const chunks = await chunksOf(scriptedModel([[call, call], call, "done"]));
    const ids = chunks.flatMap((chunk) => (chunk.type === "tool-input-available" ? [chunk.toolCallId] : []));
    expect(ids).toEqual(["call-1", "call-2", "call-3"]);
  });

  it("sends broken tool input as it is", async () => {
    const chunks = await chunksOf(scriptedModel([toolCall("add", '{"a":'), "sorry"]));
    expect(chunks.some((chunk) => chunk.type === "tool-input-error")).toBe(true);
  });

  it("sends reasoning, sources, files and raw parts", async () => {
    const parts = [
      reasoning(["hm ", "yes"]),
      source("https://example.com/a", "A"),
      file("text/plain", "aGk="),
      streamPart({ type: "response-metadata", modelId: "other-model" }),
      text("answer")
    ];
    const result = stream(scriptedModel([parts]));
    expect(await result.reasoningText).toBe("hm yes");
    expect(await result.sources).toMatchObject([{ url: "https://example.com/a", title: "A" }]);
    expect(await result.files).toMatchObject([{ mediaType: "text/plain", base64: "aGk=" }]);
    expect((await result.response).modelId).toBe("other-model");
  });

  it("reports usage and finish reason of the script, else its defaults", async () => {
    const counts = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 };
    const told = stream(scriptedModel([["Hi", usage(counts), finish("length")]]));
    expect(await told.finishReason).toBe("length");
    expect(await told.usage).toMatchObject({
      inputTokens: 100,
      outputTokens: 20,
      inputTokenDetails: { cacheReadTokens: 60 },
      outputTokenDetails: { reasoningTokens: 5 }
    });
    const silent = stream(scriptedModel(["Hi"]));
    expect(await silent.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  it("reports an in-band error and keeps the text around it", async () => {
    const chunks = await chunksOf(scriptedModel([["before ", streamError("overloaded"), "after"]]));
    expect(chunks).toContainEqual({ type: "error", errorText: "told: Error: overloaded" });
    expect(chunks.filter((chunk) => chunk.type === "text-delta")).toHaveLength(2);
  });

  it("rejects the call when the script throws before any output, also after a wait", async () => {
    for (const parts of [[throwError("refused")], [delay(1), throwError("refused")]]) {
      const model = scriptedModel([parts]);
      await expect(model.doStream({ prompt: [] })).rejects.toThrow("refused");
      expect(model.calls[0]?.status).toBe("failed");
    }
  });

  it("breaks the stream when the script throws after output", async () => {
    const model = scriptedModel([["partial", throwError(new TypeError("connection lost"))]]);
    let seen = "";
    const reading = (async () => {
      for await (const chunk of stream(model).toUIMessageStream())
        if (chunk.type === "text-delta") seen += chunk.delta;
    })();
    await expect(reading).rejects.toThrow(new TypeError("connection lost"));
    expect(seen).toBe("partial");
    expect(model.calls[0]?.status).toBe("failed");
  });

  it("ends without a finish part when it is cut off", async () => {
    const { stream: parts } = await scriptedModel([["partial", cutOff(), "never"]]).doStream({ prompt: [] });
    const types = [];
    for await (const part of parts) types.push(part.type);
    expect(types).toEqual(["stream-start", "text-start", "text-delta", "text-end"]);
  });

  it("hangs until the call is aborted", async () => {
    const model = scriptedModel([["some", hang()]]);
    const abort = new AbortController();
    const result = stream(model, abort.signal);
    let seen = "";
    for await (const chunk of result.toUIMessageStream()) {
      if (chunk.type !== "text-delta") continue;
      seen += chunk.delta;
      abort.abort();
    }
    expect(seen).toBe("some");
    expect(model.calls[0]?.aborted).toBe(true);
  });

  it("counts as aborted when the reader goes away", async () => {
    const model = scriptedModel([["some", hang()]]);
    const { stream: parts } = await model.doStream({ prompt: [] });
    const reader = parts.getReader();
    await reader.read();
    expect(model.calls[0]?.status).toBe("running");
    await reader.cancel();
    expect(model.calls[0]?.status).toBe("aborted");
  });

  it("can be cancelled while it waits", async () => {
    for (const waiting of [hang(), gate(), delay(60_000)]) {
      const model = scriptedModel([waiting]);
      const { stream: parts } = await model.doStream({ prompt: [] });
      const reader = parts.getReader();
      await reader.read();
      const pending = reader.read();
      await reader.cancel();
      expect((await pending).done).toBe(true);
      expect(model.calls[0]?.status).toBe("aborted");
    }
  });

  it("waits on the clock it was given", async () => {
    const clock = fakeClock();
    const held = gate();
    const result = stream(scriptedModel([[held, "before ", delay(60_000), "after"]], { clock }));
    let seen = "";
    const reading = (async () => {
      for await (const delta of result.textStream) seen += delta;
    })();
    await held.reached;
    held.open();
    await expect.poll(() => clock.pending).toBe(1);
    await clock.advance(59_999);
    expect(seen).toBe("before ");
    await clock.advance(1);
    await reading;
    expect(seen).toBe("before after");
  });

  it("lets a function answer from what it was asked", async () => {
    const model = scriptedModel((call) => [
      text(`${call.index}: ${call.userText} [${call.toolNames.join()}]`)
    ]);
    expect(await stream(model).text).toBe("0: Go [add]");
    expect(await stream(model).text).toBe("1: Go [add]");
  });

  it("records prompt, system text, tools and settings of every call", async () => {
    const model = scriptedModel(["Hi"]);
    const result = streamText({ model, system: "Be brief.", prompt: "Hello", temperature: 0.5, tools });
    await result.consumeStream();
    expect(model.calls).toHaveLength(1);
    expect(model.calls[0]).toMatchObject({
      index: 0,
      kind: "stream",
      system: "Be brief.",
      userText: "Hello",
      toolNames: ["add"],
      settings: { temperature: 0.5 },
      aborted: false
    });
    expect(model.calls[0]?.prompt.map((message) => message.role)).toEqual(["system", "user"]);
  });

  it("hands files over by address instead of downloading them", async () => {
    const model = scriptedModel(["A cat."]);
    const image = {
      type: "file",
      mediaType: "image/png",
      data: new URL("https://files.invalid/cat.png")
    } as const;
    await generateText({ model, messages: [{ role: "user", content: [image] }], maxRetries: 0 });
    expect(model.calls).toHaveLength(1);
  });
});

describe("a script that is used up", () => {
  it("fails with the number of entries it had", async () => {
    const model = scriptedModel(["one"]);
    await stream(model).consumeStream();
    const chunks = await chunksOf(model);
    const message = "The scripted model was called 2 times, but its script has 1 entry.";
    expect(chunks).toContainEqual(expect.objectContaining({ errorText: expect.stringContaining(message) }));
    expect(model.calls.map((call) => call.status)).toEqual(["finished", "failed"]);
  });

  it("repeats its last entry, starts again or asks a function, as told", async () => {
    const answers = async (model: ScriptedModel) => {
      const texts = [];
      for (let call = 0; call < 4; call += 1) texts.push(await stream(model).text);
      return texts;
    };
    expect(await answers(scriptedModel(["a", "b"], { onExhausted: "repeat-last" }))).toEqual([
      "a",
      "b",
      "b",
      "b"
    ]);
    expect(await answers(scriptedModel(["a", "b"], { onExhausted: "restart" }))).toEqual([
      "a",
      "b",
      "a",
      "b"
    ]);
    const asked = scriptedModel(["a"], { onExhausted: ({ index }) => `#${index}` });
    expect(await answers(asked)).toEqual(["a", "#1", "#2", "#3"]);
  });

  it("goes on when entries are added", async () => {
    const model = scriptedModel([]);
    model.push("late");
    expect(await stream(model).text).toBe("late");
  });
});

describe("a scripted model under generateText", () => {
  it("gives the same answer as a stream", async () => {
    const script = [[reasoning("hm"), text("Let me add."), toolCall("add", { a: 1, b: 2 })], "It is 3."];
    const model = scriptedModel(script, { deltaSize: 2 });
    const result = await generateText({ model, prompt: "Go", tools, stopWhen: stepCountIs(5) });
    expect(result.text).toBe("It is 3.");
    expect(result.steps[0]).toMatchObject({
      text: "Let me add.",
      reasoningText: "hm",
      finishReason: "tool-calls"
    });
    expect(model.calls.map((call) => [call.kind, call.status])).toEqual([
      ["generate", "finished"],
      ["generate", "finished"]
    ]);
  });

  it("rejects on errors inside the stream, thrown errors and cut-offs", async () => {
    const failure = (model: ScriptedModel) => generateText({ model, prompt: "Go", maxRetries: 0 });
    await expect(failure(scriptedModel([["a", streamError("in band")]]))).rejects.toThrow("in band");
    await expect(failure(scriptedModel([["a", throwError("thrown")]]))).rejects.toThrow("thrown");
    await expect(failure(scriptedModel([["a", cutOff()]]))).rejects.toThrow("cut off");
  });
});

describe("a gate", () => {
  it("says so when no model call reaches it in time", async () => {
    await expect(gate({ timeout: 5 }).reached).rejects.toThrow("No model call reached the gate within 5 ms.");
  });

  it("does not hold calls once it is open", async () => {
    const held = gate();
    held.open();
    expect(held.isOpen).toBe(true);
    expect(await stream(scriptedModel([["a", held, "b"]])).text).toBe("ab");
  });
});
