/**
 * The vocabulary of a scripted model: the parts one model call is made of and the small functions that
 * build them. Pure data; `play.ts` gives it meaning.
 */
import type { Gate } from "./gate";
import type { ModelFinishReason, ModelStreamPart } from "./model-types";
import type { ScriptedCall } from "./scripted-call";

/** Token counts a model reports for one call. */
export interface ScriptUsage {
  /** All prompt tokens, cached ones included. */
  readonly inputTokens: number;
  /** All generated tokens, reasoning included. */
  readonly outputTokens: number;
  /** Prompt tokens read from the provider's cache. Default 0. */
  readonly cachedInputTokens?: number;
  /** Generated tokens spent on reasoning. Default 0. */
  readonly reasoningTokens?: number;
}

/** How a text is cut into stream deltas. */
export interface DeltaOptions {
  /** Characters (code points) per delta. Default: the model's `deltaSize`, else the whole text at once. */
  readonly deltaSize?: number;
}

export interface ToolCallOptions extends DeltaOptions {
  /** Tool call id. Default `call-1`, `call-2`, …, skipping ids that already occur in the prompt. */
  readonly id?: string;
  /** Exact pieces of the input's JSON text to stream ahead of the call. Default: not streamed. */
  readonly deltas?: readonly string[];
  /** True when the provider runs the tool itself. Default false. */
  readonly providerExecuted?: boolean;
  /** True when the tool is not declared in the request. Default false. */
  readonly dynamic?: boolean;
}

/** One thing a scripted model does during a call. Build it with the functions of this module. */
export type ScriptPart =
  | {
      readonly type: "text" | "reasoning";
      readonly content: string | readonly string[];
      readonly deltaSize?: number;
    }
  | {
      readonly type: "tool-call";
      readonly toolName: string;
      readonly input: unknown;
      readonly options: ToolCallOptions;
    }
  | { readonly type: "delay"; readonly ms: number }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "throw"; readonly error: unknown }
  | { readonly type: "hang" }
  | { readonly type: "cut" }
  | { readonly type: "usage"; readonly usage: ScriptUsage }
  | { readonly type: "finish"; readonly reason: ModelFinishReason }
  | { readonly type: "stream-part"; readonly part: ModelStreamPart }
  | Gate;

/** What a model does in one call: a text, one part, or a list of both. */
export type ScriptAnswer = string | ScriptPart | readonly (string | ScriptPart)[];

/** Decides the answer when the call is made. */
export type ScriptFunction = (call: ScriptedCall) => ScriptAnswer | Promise<ScriptAnswer>;

/** One entry of a script: the answer to one model call. */
export type ScriptStep = ScriptAnswer | ScriptFunction;

/** Text; an array gives the exact deltas, a string is cut by `deltaSize`. */
export function text(content: string | readonly string[], options: DeltaOptions = {}): ScriptPart {
  return { type: "text", content, ...options };
}

/** Reasoning text; same rules as {@link text}. */
export function reasoning(content: string | readonly string[], options: DeltaOptions = {}): ScriptPart {
  return { type: "reasoning", content, ...options };
}

/** A tool call. An object input is sent as JSON; a string is sent as it is, so that a test can send broken JSON. */
export function toolCall(toolName: string, input: unknown = {}, options: ToolCallOptions = {}): ScriptPart {
  return { type: "tool-call", toolName, input, options };
}

/** Waits `ms` milliseconds, on the model's clock if it was given one. An abort ends the wait. */
export function delay(ms: number): ScriptPart {
  return { type: "delay", ms };
}

/** An error reported inside the stream; the stream itself goes on and finishes with reason `error`. */
export function streamError(error: unknown): ScriptPart {
  return { type: "error", error: asError(error) };
}

/**
 * A thrown error. Before any output it rejects the call, as a provider that refuses the request;
 * after output it breaks the stream, as a lost connection.
 */
export function throwError(error: unknown): ScriptPart {
  return { type: "throw", error: asError(error) };
}

/** Produces nothing more until the call is aborted. */
export function hang(): ScriptPart {
  return { type: "hang" };
}

/** Ends the stream here without a finish part, as a provider that drops the connection politely. */
export function cutOff(): ScriptPart {
  return { type: "cut" };
}

/** The token counts of this call. Default 10 in, 5 out. */
export function usage(counts: ScriptUsage): ScriptPart {
  return { type: "usage", usage: counts };
}

/** The finish reason. Default `tool-calls` after a tool call, `error` after a stream error, else `stop`. */
export function finish(reason: ModelFinishReason): ScriptPart {
  return { type: "finish", reason };
}

/** A web source. */
export function source(url: string, title?: string): ScriptPart {
  const part = { type: "source", sourceType: "url", id: url, url } as const;
  return streamPart(title === undefined ? part : { ...part, title });
}

/** A generated file; string data is base64. */
export function file(mediaType: string, data: string | Uint8Array): ScriptPart {
  return streamPart({ type: "file", mediaType, data });
}

/** Any stream part of the model specification, sent as it is. */
export function streamPart(part: ModelStreamPart): ScriptPart {
  return { type: "stream-part", part };
}

function asError(error: unknown): unknown {
  return typeof error === "string" ? new Error(error) : error;
}
