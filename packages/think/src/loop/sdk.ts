/**
 * Every call into the AI SDK's loop. One source serves its majors 6 and 7; where they differ, the difference ends here and in
 * `sdk-events.ts`.
 */
import {
  convertToModelMessages,
  stepCountIs,
  streamText,
  type LanguageModel,
  type ModelMessage,
  type ToolSet,
  type UIMessage,
  type UIMessageChunk
} from "ai";
import { convertIncrementally } from "./convert-messages";
import type { StreamableResult, TransformResult } from "./hook-types";
import type { Hooks } from "./hooks";
import { createRun } from "./sdk-events";
import type { StepGuard } from "./step-guard";
import { executedHere } from "./tool-sources";
import type { CallSettings, TurnConfig } from "./turn-config";
import { streamOnce, uiChunks, type ModelRun } from "./ui-chunks";

export interface ModelCall {
  readonly model: LanguageModel;
  readonly system: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
  readonly maxSteps: number;
  readonly sendReasoning: boolean;
  readonly signal: AbortSignal;
  /** The turn's overrides; what the fields above cover is taken from there. */
  readonly config: TurnConfig;
  readonly hooks: Hooks;
  /** Looks after the context window before each step. */
  readonly guard?: StepGuard | undefined;
  readonly transformResult: TransformResult | undefined;
}

/** A running model call: its UI chunks, and the errors behind the error chunks. */
export interface ModelStream {
  readonly chunks: ReadableStream<UIMessageChunk>;
  /** What the provider threw, when the stream carries an error chunk. */
  failure(): unknown;
  /** The structured output, when the turn asked for one. Reading it consumes the stream: do so after the last chunk. */
  readonly output?: Promise<unknown> | undefined;
  /** Names of the tools that run on the server in this turn: nobody else may answer their calls. Default: none. */
  readonly serverTools?: ReadonlySet<string>;
  /** Longest silence between chunks that this turn allows, in ms; 0 is no limit. Undefined: the agent's setting. */
  readonly stallTimeoutMs?: number | undefined;
}

export function streamModel(call: ModelCall): ModelStream {
  const { config } = call;
  let failure: unknown;
  const fail = (error: unknown) => {
    failure = error;
  };
  const settings: CallSettings = { ...settingsOf(call), onError: ({ error }) => fail(error) };
  // Who wraps the result may read it more than once, and an output is a second reader. Any other run has one.
  const isReadOnce = call.transformResult === undefined && config.output === undefined;
  let started: ModelRun | undefined;
  const run = () => (started ??= isReadOnce ? streamOnce(settings) : streamText(settings));
  // The SDK gives the tools to its conversion as the run has them: behind the gate, without a prototype.
  const chunkSettings = { tools: settings.tools, sendReasoning: call.sendReasoning };
  const base: StreamableResult = {
    toUIMessageStream: () => uiChunks(run(), chunkSettings),
    get output() {
      return config.output === undefined ? undefined : run().output;
    }
  };
  const streamable = call.transformResult?.(base) ?? base;
  run();
  const chunks = toStream(streamable.toUIMessageStream());
  return {
    chunks: config.timeout === undefined ? chunks : chunks.pipeThrough(timeoutsAsErrors(call.signal, fail)),
    failure: () => failure,
    get output() {
      return config.output === undefined ? undefined : Promise.resolve(streamable.output);
    },
    serverTools: executedHere(call.tools),
    stallTimeoutMs: config.chatStreamStallTimeoutMs
  };
}

/** What a turn's config hands to the SDK as it is. A list, so that nothing else an author returns reaches the call. */
const PASSED_ON = [
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "seed",
  "maxRetries",
  "activeTools",
  "toolChoice",
  "headers",
  "providerOptions",
  "experimental_telemetry",
  "output",
  "experimental_transform"
] as const satisfies readonly (keyof TurnConfig)[];

function settingsOf(call: ModelCall): CallSettings {
  const { config } = call;
  const settings = {
    model: call.model,
    system: call.system,
    messages: call.messages,
    // Version 7 refuses system entries in the history unless told that they are meant.
    allowSystemInMessages: true,
    stopWhen: [stepCountIs(call.maxSteps), ...listOf(config.stopWhen)],
    abortSignal: call.signal,
    timeout: withFirstChunk(config.timeout),
    ...Object.fromEntries(PASSED_ON.map((name) => [name, config[name]])),
    ...createRun(call)
  };
  // Absent and undefined differ for the SDK's defaults; one cast covers what the majors name differently.
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined)
  ) as unknown as CallSettings;
}

function listOf<Item>(value: Item | readonly Item[] | undefined): readonly Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Item];
}

/** Version 6 counts the wait for the first chunk in `chunkMs`, version 7 has its own field for it. */
function withFirstChunk(timeout: TurnConfig["timeout"]): unknown {
  if (typeof timeout !== "object" || timeout.chunkMs === undefined) return timeout;
  return { firstChunkMs: timeout.chunkMs, ...timeout };
}

/** Version 6 throws when time runs out; version 7 says `abort`, which would look like the user's own doing. */
function timeoutsAsErrors(
  signal: AbortSignal,
  fail: (error: unknown) => void
): TransformStream<UIMessageChunk, UIMessageChunk> {
  return new TransformStream({
    transform(chunk, controller) {
      if (chunk.type !== "abort" || signal.aborted) return controller.enqueue(chunk);
      const error = new DOMException(
        "The model call took longer than the turn's timeout allows.",
        "TimeoutError"
      );
      fail(error);
      controller.enqueue({ type: "error", errorText: error.message });
    }
  });
}

function toStream(
  chunks: ReadableStream<UIMessageChunk> | AsyncIterable<UIMessageChunk>
): ReadableStream<UIMessageChunk> {
  if (chunks instanceof ReadableStream) return chunks;
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<UIMessageChunk>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      }
    },
    { highWaterMark: 0 }
  );
}

/** Stored messages -> model messages. Tool calls that never settled are left out: providers refuse them. */
export function toModelMessages(messages: readonly UIMessage[], tools: ToolSet): Promise<ModelMessage[]> {
  return convertIncrementally(messages, tools, convertAll);
}

/** The same, all of it anew. */
export function convertAll(messages: readonly UIMessage[], tools: ToolSet): Promise<ModelMessage[]> {
  return convertToModelMessages([...messages], { tools, ignoreIncompleteToolCalls: true });
}
