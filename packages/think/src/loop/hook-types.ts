/**
 * The types of the lifecycle hooks. They are the AI SDK's own types with the fields of Think added, so nothing of what the SDK knows is
 * lost. Where its majors differ, the field is declared here and filled by `sdk.ts` on both.
 */
import type {
  LanguageModel,
  ModelMessage,
  PrepareStepFunction,
  PrepareStepResult,
  StaticToolCall,
  StepResult,
  TextStreamPart,
  ToolSet,
  TypedToolCall,
  UIMessageChunk
} from "ai";
import type { TurnConfig } from "./turn-config";

type MaybePromise<Value> = Value | Promise<Value>;

/** What `beforeTurn` sees: the assembled request, before any override. */
export interface TurnContext {
  /** The system prompt with the capability block. */
  readonly system: string;
  /** The conversation as the model will get it. */
  readonly messages: ModelMessage[];
  /** Every tool of the turn, merged. */
  readonly tools: ToolSet;
  /** What `getModel()` returned. */
  readonly model: LanguageModel;
  /** Whether the turn carries on after tool results instead of answering a new message. */
  readonly continuation: boolean;
  /** The application's own fields of the client's request. */
  readonly body?: Record<string, unknown>;
}

/** What `beforeStep` sees: the argument of the SDK's `prepareStep`. */
export type PrepareStepContext<TOOLS extends ToolSet = ToolSet> = Omit<
  Parameters<PrepareStepFunction<ToolSet>>[0],
  "steps" | "experimental_context"
> & {
  /** The steps so far. */
  readonly steps: StepContext<TOOLS>[];
  /** What an earlier step set as `experimental_context`. Default: undefined. */
  readonly experimental_context: unknown;
};

/** What `beforeStep` may override for one step. */
export type StepConfig<TOOLS extends ToolSet = ToolSet> = NonNullable<PrepareStepResult<TOOLS>> & {
  /** Handed to tools as `experimental_context` and `context`, from this step on. */
  experimental_context?: unknown;
};

/** Omit for each member of a union. */
type OmitEach<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

/**
 * A call of one of `TOOLS`. With a specific tool set, `toolName` narrows `input`. Calls that could not be parsed never get here, so their
 * fields are left out; `error` would collide with that of the outcome.
 */
type ToolCallOf<TOOLS extends ToolSet> = OmitEach<SdkToolCall<TOOLS>, "error" | "invalid">;
type SdkToolCall<TOOLS extends ToolSet> = string extends keyof TOOLS
  ? TypedToolCall<TOOLS>
  : StaticToolCall<TOOLS>;

/** What `beforeToolCall` sees. */
export type ToolCallContext<TOOLS extends ToolSet = ToolSet> = ToolCallOf<TOOLS> & {
  /** Undefined here: the SDK does not tell it before the call. `afterToolCall` has it. */
  readonly stepNumber: number | undefined;
  /** The conversation at the time of the call. */
  readonly messages: readonly ModelMessage[];
  /** Fires when the turn is cancelled. */
  readonly abortSignal: AbortSignal | undefined;
};

/** What `beforeToolCall` may decide. Nothing returned means allow. */
export type ToolCallDecision =
  /** Runs the tool; `input` replaces the model's and is not validated again. */
  | { readonly action: "allow"; readonly input?: unknown }
  /** Does not run the tool; the model sees `reason`. */
  | { readonly action: "block"; readonly reason?: string | undefined }
  /** Does not run the tool; the model sees `output`. */
  | { readonly action: "substitute"; readonly output: unknown; readonly input?: unknown };

/** How a tool call ended, as the model sees it: a blocked or substituted call is a success. */
export type ToolCallOutcome =
  | { readonly success: true; readonly output: unknown; readonly error?: never }
  | { readonly success: false; readonly error: unknown; readonly output?: never };

/** What `afterToolCall` sees. `input` is what the model sent, also when `beforeToolCall` replaced it. */
export type ToolCallResultContext<TOOLS extends ToolSet = ToolSet> = ToolCallOf<TOOLS> &
  ToolCallOutcome & {
    /** Index of the step, from 0. Undefined for a call that was approved in an earlier turn. */
    readonly stepNumber: number | undefined;
    readonly messages: readonly ModelMessage[];
    /** Time `execute` took, in ms. */
    readonly durationMs: number;
  };

/** What `onStepFinish` sees: the SDK's step result. */
export type StepContext<TOOLS extends ToolSet = ToolSet> = StepResult<TOOLS> & {
  readonly usage: StepResult<TOOLS>["usage"] & {
    readonly cachedInputTokens?: number | undefined;
    readonly reasoningTokens?: number | undefined;
  };
};

/** The stream parts that `onChunk` sees. */
export type ChunkPart<TOOLS extends ToolSet = ToolSet> = Extract<
  TextStreamPart<TOOLS>,
  {
    type:
      | "text-delta"
      | "reasoning-delta"
      | "source"
      | "tool-call"
      | "tool-input-start"
      | "tool-input-delta"
      | "tool-result"
      | "raw";
  }
>;

/** A context that carries one stream part. Generic in the part, not in the tools: the compiler compares parts by their shape. */
export interface PartContext<Part> {
  readonly chunk: Part;
}

/** What `onChunk` sees. */
export type ChunkContext<TOOLS extends ToolSet = ToolSet> = PartContext<ChunkPart<TOOLS>>;

/** One inference run, as something that can be streamed to clients. */
export interface StreamableResult {
  toUIMessageStream(): ReadableStream<UIMessageChunk> | AsyncIterable<UIMessageChunk>;
  /** The structured output, when the turn asked for one. */
  readonly output?: PromiseLike<unknown> | undefined;
}

export type TransformResult = (result: StreamableResult) => StreamableResult;

/** The hooks an author may override. */
export interface AgentHooks {
  beforeTurn(context: TurnContext): MaybePromise<TurnConfig | void>;
  beforeStep(context: PrepareStepContext): MaybePromise<StepConfig | void>;
  beforeToolCall(context: ToolCallContext): MaybePromise<ToolCallDecision | void>;
  afterToolCall(context: ToolCallResultContext): MaybePromise<void>;
  onStepFinish(context: StepContext): MaybePromise<void>;
  onChunk(context: ChunkContext): MaybePromise<void>;
}
