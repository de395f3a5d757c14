/** §13: the types of hooks, checked by the compiler. Nothing here runs. */
import { Think } from "@cloudflare/think";
import { hasToolCall, Output, type LanguageModel, type ModelMessage, type Tool, type ToolSet } from "ai";
import { expectTypeOf } from "vitest";
import { z } from "zod";
import type {
  ChunkContext,
  ChunkPart,
  PrepareStepContext,
  StepConfig,
  StepContext,
  ToolCallContext,
  ToolCallDecision,
  ToolCallResultContext,
  TurnConfig,
  TurnContext
} from "../src/public-types";

declare const search: Tool<{ query: string; limit?: number | undefined }, number[]>;
declare const weather: Tool<{ city: string }, string>;
interface Tools extends ToolSet {
  readonly search: typeof search;
}
type TwoTools = { readonly search: typeof search; readonly weather: typeof weather };

declare const model: LanguageModel;

/** Every hook can be overridden with contexts of specific tools, synchronously or not. */
export class TypedAgent extends Think {
  override beforeTurn(context: TurnContext): TurnConfig | void {
    expectTypeOf(context.messages).toEqualTypeOf<ModelMessage[]>();
    expectTypeOf(context.tools).toEqualTypeOf<ToolSet>();
    expectTypeOf(context.body).toEqualTypeOf<Record<string, unknown> | undefined>();
    if (context.continuation) {
      return {
        ...{
          model,
          system: "x",
          tools: { search },
          activeTools: ["search"],
          toolChoice: "required",
          maxSteps: 2
        },
        ...{ stopWhen: [hasToolCall("search")], output: Output.object({ schema: z.object({}) }) },
        ...{
          timeout: { chunkMs: 10 },
          headers: { a: "b" },
          providerOptions: { anthropic: { thinking: true } }
        },
        ...{ experimental_telemetry: { isEnabled: true }, sendReasoning: false, chatStreamStallTimeoutMs: 0 }
      };
    }
  }

  override async beforeStep(context: PrepareStepContext<TwoTools>): Promise<StepConfig<TwoTools> | void> {
    expectTypeOf(context.stepNumber).toEqualTypeOf<number>();
    expectTypeOf(context.experimental_context).toEqualTypeOf<unknown>();
    if (context.stepNumber === 0)
      return { activeTools: ["search"], toolChoice: { type: "tool", toolName: "search" } };
  }

  override beforeToolCall(context: ToolCallContext<TwoTools>): ToolCallDecision | void {
    expectTypeOf(context.toolName).toEqualTypeOf<"search" | "weather">();
    if (context.toolName === "search") {
      expectTypeOf(context.input.query).toEqualTypeOf<string>();
      return { action: "allow", input: { ...context.input, limit: Math.min(context.input.limit ?? 10, 50) } };
    }
    expectTypeOf(context.input).toEqualTypeOf<{ city: string }>();
    expectTypeOf(context.abortSignal).toEqualTypeOf<AbortSignal | undefined>();
    return { action: "block", reason: "no" };
  }

  override afterToolCall(context: ToolCallResultContext<TwoTools>): void {
    expectTypeOf(context.durationMs).toEqualTypeOf<number>();
    expectTypeOf(context.stepNumber).toEqualTypeOf<number | undefined>();
    if (context.success) expectTypeOf(context.output).toEqualTypeOf<unknown>();
    else expectTypeOf(context.error).toEqualTypeOf<unknown>();
  }

  override onStepFinish(context: StepContext<TwoTools>): void {
    expectTypeOf(context.usage.cachedInputTokens).toEqualTypeOf<number | undefined>();
    expectTypeOf(context.usage.reasoningTokens).toEqualTypeOf<number | undefined>();
    expectTypeOf(context.usage.inputTokens).toEqualTypeOf<number | undefined>();
    expectTypeOf(context.text).toEqualTypeOf<string>();
  }

  override onChunk({ chunk }: ChunkContext<TwoTools>): void {
    if (chunk.type === "text-delta") expectTypeOf(chunk.text).toEqualTypeOf<string>();
    if (chunk.type === "tool-call" && chunk.dynamic !== true && chunk.toolName === "weather") {
      expectTypeOf(chunk.input).toEqualTypeOf<{ city: string }>();
    }
  }
}

// Without a tool set, names are strings, and an interface works as a tool set as well as a literal type.
expectTypeOf<ToolCallContext["toolName"]>().toEqualTypeOf<string>();
expectTypeOf<ToolCallContext<Tools>["toolName"]>().toExtend<string>();
expectTypeOf<ChunkPart["type"]>().toEqualTypeOf<
  | ("text-delta" | "reasoning-delta" | "source" | "tool-call")
  | ("tool-input-start" | "tool-input-delta" | "tool-result" | "raw")
>();
// @ts-expect-error a decision has one of three actions
expectTypeOf<{ action: "deny" }>().toExtend<ToolCallDecision>();
// @ts-expect-error a substitute needs an output
expectTypeOf<{ action: "substitute" }>().toExtend<ToolCallDecision>();
