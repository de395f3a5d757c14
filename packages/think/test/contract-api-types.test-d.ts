/** §8.1, §13: the public types of the chat turn, checked by the compiler. Nothing here runs. */
import type * as Api from "@cloudflare/think";
import { expectTypeOf } from "vitest";

/** §13: each name must exist; the compiler checks it. */
export type ExportedTypes = [
  Api.StreamCallback,
  Api.ChatStartEvent,
  Api.ChatOptions,
  Api.StreamableResult,
  Api.TurnInput,
  Api.TurnContext,
  Api.TurnConfig,
  Api.PrepareStepContext,
  Api.StepConfig,
  Api.ToolCallContext,
  Api.ToolCallDecision,
  Api.ToolCallResultContext,
  Api.StepContext,
  Api.ChunkContext,
  Api.ChunkPart,
  Api.ChatResponseResult,
  Api.SaveMessagesOptions,
  Api.SaveMessagesResult,
  Api.MessageConcurrency,
  Api.ChatErrorContext,
  Api.MediaEvictionConfig,
  Api.OnStartDegradation,
  Api.PrepareStepFunction<never>,
  Api.PrepareStepResult<never>,
  Api.StepResult<never>,
  Api.StopCondition<never>,
  Api.TextStreamPart<never>,
  Api.TypedToolCall<never>,
  Api.TypedToolResult<never>,
  Api.ChatErrorClassification,
  Api.ContextOverflowConfig,
  Api.ChatRecoveryConfig,
  Api.ChatRecoveryContext,
  Api.ChatRecoveryOptions,
  Api.ChatRecoveryProgressContext,
  Api.ChatRecoveryExhaustedContext,
  Api.ResolvedChatRecoveryConfig,
  Api.ClientToolSchema,
  Api.WorkspaceLike,
  Api.Session,
  Api.Workspace,
  typeof Api.defaultContextOverflowClassifier,
  Api.Think<Cloudflare.Env, { readonly count: number }, { readonly tenant: string }>
];

/** §8.1: other names are errors where the options are written. */
export type ChatOptionNames = keyof Api.ChatOptions;

expectTypeOf<ChatOptionNames>().toEqualTypeOf<"signal" | "clientTools" | "onClientToolCall">();
