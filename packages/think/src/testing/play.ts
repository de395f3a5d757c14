/**
 * Turns the script of one call into the stream parts of the model specification. Called by the scripted
 * model for both streamed and whole answers, so that the two can never disagree.
 *
 * Invariants:
 * P1. The first part is `stream-start`; the last is `finish`, unless the script cuts off or throws.
 * P2. The abort signal is looked at before every part and during every wait.
 */
import type { ModelFinishReason, ModelStreamPart, ModelUsage } from "./model-types";
import type { ScriptPart, ScriptUsage } from "./script";

/** What the player needs from the model around it. */
export interface PlayHost {
  readonly deltaSize: number | undefined;
  readonly usage: ScriptUsage;
  readonly signal: AbortSignal | undefined;
  nextToolCallId(): string;
  /** Lets `ms` milliseconds pass; rejects with the abort reason when the call is aborted. */
  sleep(ms: number): Promise<void>;
}

/** Interprets the parts of one call in order. */
export async function* play(
  parts: readonly ScriptPart[],
  host: PlayHost
): AsyncGenerator<ModelStreamPart, void> {
  let usage = host.usage;
  let finish: ModelFinishReason | undefined;
  let inferred: ModelFinishReason = "stop";
  yield { type: "stream-start", warnings: [] };
  for (const [index, part] of parts.entries()) {
    host.signal?.throwIfAborted();
    if (part.type === "cut") return;
    if (part.type === "usage") usage = part.usage;
    else if (part.type === "finish") finish = part.reason;
    else if (isWait(part)) await wait(part, host);
    else if (part.type === "throw") throw part.error;
    else {
      if (part.type === "error") inferred = "error";
      if (part.type === "tool-call" && part.options.providerExecuted !== true) inferred = "tool-calls";
      for (const streamed of streamParts(part, `${part.type}-${index}`, host)) {
        host.signal?.throwIfAborted();
        yield streamed;
      }
    }
  }
  yield {
    type: "finish",
    usage: toModelUsage(usage),
    finishReason: { unified: finish ?? inferred, raw: undefined }
  };
}

type Wait = Extract<ScriptPart, { readonly type: "delay" | "gate" | "hang" }>;
type Output = Exclude<ScriptPart, Wait | { readonly type: "throw" | "cut" | "usage" | "finish" }>;

/** True for parts that only let time pass. */
export function isWait(part: ScriptPart): part is Wait {
  return part.type === "delay" || part.type === "gate" || part.type === "hang";
}

/** Lets the time of one waiting part pass; rejects with the abort reason when the call is aborted. */
export async function wait(part: Wait, host: PlayHost): Promise<void> {
  if (part.type === "gate") await part.wait(host.signal);
  else if (part.type === "delay") await host.sleep(part.ms);
  else await aborted(host.signal);
}

/** Rejects with the abort reason, whenever that is. */
export async function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal?.aborted === true) reject(signal.reason);
    else signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function* streamParts(part: Output, id: string, host: PlayHost): Generator<ModelStreamPart, void> {
  switch (part.type) {
    case "text":
    case "reasoning":
      yield { type: `${part.type}-start`, id };
      for (const delta of deltasOf(part.content, part.deltaSize ?? host.deltaSize)) {
        yield { type: `${part.type}-delta`, id, delta };
      }
      yield { type: `${part.type}-end`, id };
      return;
    case "tool-call":
      yield* toolCallParts(part, host);
      return;
    case "error":
      yield { type: "error", error: part.error };
      return;
    case "stream-part":
      yield part.part;
      return;
  }
}

function* toolCallParts(
  part: Extract<ScriptPart, { readonly type: "tool-call" }>,
  host: PlayHost
): Generator<ModelStreamPart, void> {
  const { id = host.nextToolCallId(), deltas, deltaSize, providerExecuted, dynamic } = part.options;
  const input = typeof part.input === "string" ? part.input : JSON.stringify(part.input);
  const flags = {
    ...(providerExecuted === undefined ? {} : { providerExecuted }),
    ...(dynamic === undefined ? {} : { dynamic })
  };
  const streamed = deltas ?? (deltaSize === undefined ? undefined : deltasOf(input, deltaSize));
  if (streamed !== undefined) {
    yield { type: "tool-input-start", id, toolName: part.toolName, ...flags };
    for (const delta of streamed) yield { type: "tool-input-delta", id, delta };
    yield { type: "tool-input-end", id };
  }
  yield { type: "tool-call", toolCallId: id, toolName: part.toolName, input, ...flags };
}

/** Cuts a text into deltas by code points, so that no character is ever split. */
function deltasOf(content: string | readonly string[], size: number | undefined): readonly string[] {
  if (typeof content !== "string") return content;
  if (content === "") return [];
  if (size === undefined) return [content];
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`deltaSize is ${size}: it must be a whole number of at least 1.`);
  }
  const characters = Array.from(content);
  const deltas: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    deltas.push(characters.slice(start, start + size).join(""));
  }
  return deltas;
}

function toModelUsage(usage: ScriptUsage): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage;
  return {
    inputTokens: {
      total: inputTokens,
      noCache: inputTokens - cachedInputTokens,
      cacheRead: cachedInputTokens,
      cacheWrite: 0
    },
    outputTokens: { total: outputTokens, text: outputTokens - reasoningTokens, reasoning: reasoningTokens }
  };
}
