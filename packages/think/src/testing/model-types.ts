/**
 * The model specification the test models are written against, derived from the `ai` the user has
 * installed, so that this subpath needs no provider package of its own. Version 3 is the newest one
 * that every supported AI SDK major accepts. Used by the scripted model only.
 */
import type { LanguageModel } from "ai";

/** A language model in the specification both supported AI SDK majors accept. */
export type SpecificationModel = Extract<LanguageModel, { readonly specificationVersion: "v3" }>;

/** What the AI SDK passes to a model for one call. */
export type ModelCallOptions = Parameters<SpecificationModel["doStream"]>[0];

/** The conversation of one call in the provider's shape. */
export type ModelPrompt = ModelCallOptions["prompt"];

/** A tool as the model sees it. */
export type ModelTool = NonNullable<ModelCallOptions["tools"]>[number];

export type ModelStreamResult = Awaited<ReturnType<SpecificationModel["doStream"]>>;

export type ModelGenerateResult = Awaited<ReturnType<SpecificationModel["doGenerate"]>>;

/** One part of a model's stream, for {@link streamPart}. */
export type ModelStreamPart = ModelStreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;

export type ModelContent = ModelGenerateResult["content"][number];

export type ModelUsage = ModelGenerateResult["usage"];

/** Why a model stopped: `stop`, `length`, `content-filter`, `tool-calls`, `error` or `other`. */
export type ModelFinishReason = ModelGenerateResult["finishReason"]["unified"];
