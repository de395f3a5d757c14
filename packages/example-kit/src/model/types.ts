/**
 * The shapes the offline model is built from. The specification types come out of `ai` itself, so the example
 * needs no direct dependency on the provider package and follows whichever SDK version is installed.
 */
import type { LanguageModel } from "ai";

/** Version 3 of the AI SDK model specification: accepted by `ai` 6 and `ai` 7. */
export type LanguageModelV3 = Extract<LanguageModel, { readonly specificationVersion: "v3" }>;
export type CallOptions = Parameters<LanguageModelV3["doStream"]>[0];
export type Prompt = CallOptions["prompt"];
export type StreamResult = Awaited<ReturnType<LanguageModelV3["doStream"]>>;
export type GenerateResult = Awaited<ReturnType<LanguageModelV3["doGenerate"]>>;
export type StreamPart = StreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;
export type FinishReason = GenerateResult["finishReason"]["unified"];

export interface ToolCall {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolResult {
  readonly toolName: string;
  /** True when the tool threw or refused. */
  readonly failed: boolean;
  /** The tool's output: parsed JSON, or plain text. */
  readonly output: unknown;
}

/** Words per second feel: `brisk` for answers, `steady` for work that is watched, `slow` for something to be interrupted. */
export type Pace = "brisk" | "steady" | "slow";

/** One thing to say or do, in order, within one model step. */
export type Utterance =
  | { readonly type: "text"; readonly text: string; readonly pace: Pace }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-call"; readonly call: ToolCall }
  | { readonly type: "error"; readonly message: string };

/** Everything one model step does. A step with a tool call is followed by another step that sees its result. */
export type Plan = readonly Utterance[];

/** The prompt, reduced to what the planner looks at. */
export interface Situation {
  /** Text of the last message the person wrote. */
  readonly request: string;
  /** Results of the tools called since that message, oldest first. */
  readonly results: readonly ToolResult[];
  /** Text this step has already said before it was interrupted; empty for a fresh step. */
  readonly alreadySaid: string;
  /** Names of the tools the model may call. */
  readonly tools: ReadonlySet<string>;
}
