/**
 * `TurnConfig`: what `beforeTurn` may change for one turn, and how what an observer returns is merged into it. Observers may live in
 * another isolate, so only plain data is taken from them.
 */
import type { LanguageModel, ModelMessage, streamText, ToolSet } from "ai";

/** The SDK's call settings, whatever its major. */
export type CallSettings = Parameters<typeof streamText>[0];

/** Overrides for one turn. Every field is optional; what is absent keeps its default. */
export interface TurnConfig {
  /** The model of this turn. Default: `getModel()`. */
  model?: LanguageModel | undefined;
  /** The whole system prompt, capability block included. Default: the assembled one. */
  system?: string | undefined;
  /** The conversation the model gets. Default: the assembled one. */
  messages?: ModelMessage[] | undefined;
  /** Tools added to those of the turn; an equal name replaces. */
  tools?: ToolSet | undefined;
  /** Names of the tools the model may call. Default: all. */
  activeTools?: string[] | undefined;
  /** Whether and which tool the model must call. Default: `"auto"`. */
  toolChoice?: CallSettings["toolChoice"];
  /** Most model steps. Default: the agent's `maxSteps`. */
  maxSteps?: number | undefined;
  /** Further conditions that end the turn early; `maxSteps` stays in force. */
  stopWhen?: CallSettings["stopWhen"];
  /** Whether reasoning is sent to clients. Default: the agent's `sendReasoning`. */
  sendReasoning?: boolean | undefined;
  /** Longest silence of the model's stream, in ms; 0 is no limit. Default: the agent's setting. */
  chatStreamStallTimeoutMs?: number | undefined;
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  stopSequences?: string[] | undefined;
  seed?: number | undefined;
  /** Retries of a failed model call. Default: the SDK's, 2. */
  maxRetries?: number | undefined;
  /** Time limits in ms: a number for the whole turn, or an object. Running out is an error. */
  timeout?: CallSettings["timeout"];
  headers?: Record<string, string | undefined> | undefined;
  /** Options for the provider, by provider name. */
  providerOptions?: Record<string, unknown> | undefined;
  experimental_telemetry?: CallSettings["experimental_telemetry"];
  /** Structured output, for example `Output.object({ schema })`. A turn that cannot produce it fails. */
  output?: CallSettings["output"];
  /** Transforms of the SDK's stream, applied before hooks and clients see it. */
  experimental_transform?: CallSettings["experimental_transform"];
}

/** Fields an observer may set; the last one wins. */
const PLAIN = [
  "system",
  "messages",
  "activeTools",
  "toolChoice",
  "maxSteps",
  "sendReasoning",
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "seed",
  "maxRetries",
  "timeout"
] as const satisfies readonly (keyof TurnConfig)[];

/** Fields of an observer that are merged key by key. */
const RECORDS = ["headers", "providerOptions"] as const satisfies readonly (keyof TurnConfig)[];

/** The config with an observer's wishes merged in. Models, tools, functions and everything unknown are ignored. */
export function mergeTurnConfig(config: TurnConfig, patch: TurnConfig): TurnConfig {
  const plain = PLAIN.filter((key) => patch[key] !== undefined).map((key) => [key, patch[key]]);
  const records = RECORDS.filter((key) => patch[key] !== undefined).map((key) => [
    key,
    { ...config[key], ...patch[key] }
  ]);
  return { ...config, ...Object.fromEntries([...plain, ...records]) };
}
