/**
 * A language model without a network: a function that decides what each step does, played as a stream. For the first answer on a new
 * machine and for tests. It follows version 3 of the AI SDK's model specification and really drives the tools it is given.
 */
import { readSituation } from "./situation";
import { finishReasonOf, pauseFor, streamPlan, type StreamerOptions, usageOf } from "./streamer";
import { resume } from "./resume";
import type { CallOptions, GenerateResult, LanguageModelV3, Plan, Situation } from "./types";

export interface PlannedModelOptions {
  /** Ids of parts and tool calls. Default: random UUIDs. */
  readonly generateId?: () => string;
  /** The pause between words. Default: a timer. */
  readonly pause?: StreamerOptions["pause"];
}

/** Creates a model that does what `plan` says. Ids are random; everything else is as deterministic as the plan. */
export function createPlannedModel(
  plan: (situation: Situation) => Plan,
  options: PlannedModelOptions = {}
): LanguageModelV3 {
  const generateId = options.generateId ?? (() => crypto.randomUUID());
  const pause = options.pause ?? pauseFor;
  const planStep = (call: CallOptions) => {
    const situation = readSituation(call);
    return resume(plan(situation), situation.alreadySaid);
  };
  return {
    specificationVersion: "v3",
    provider: "offline",
    modelId: "offline",
    supportedUrls: {},
    doStream: async (call) => ({
      stream: streamPlan(planStep(call), { generateId, pause, abortSignal: call.abortSignal })
    }),
    doGenerate: async (call) => {
      call.abortSignal?.throwIfAborted();
      return generate(planStep(call), generateId);
    }
  };
}

function generate(steps: Plan, generateId: () => string): GenerateResult {
  const content = steps.map((utterance): GenerateResult["content"][number] => {
    switch (utterance.type) {
      case "text":
      case "reasoning":
        return { type: utterance.type, text: utterance.text };
      case "tool-call":
        return {
          type: "tool-call",
          toolCallId: generateId(),
          toolName: utterance.call.toolName,
          input: JSON.stringify(utterance.call.input)
        };
      case "error":
        throw new Error(utterance.message);
    }
  });
  return {
    content,
    finishReason: { unified: finishReasonOf(steps), raw: undefined },
    usage: usageOf(content.length),
    warnings: []
  };
}
