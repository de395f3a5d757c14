/** The agent of the loop tests. Each test decides by name what its instance does, so that hooks are plain functions of the test. */
import { Think } from "@cloudflare/think";
import type { LanguageModel, ToolSet, UIMessage } from "ai";
import { tool } from "ai";
import { z } from "zod";
import type {
  ChunkContext,
  PrepareStepContext,
  StepConfig,
  StepContext,
  StoredToolPart,
  StreamableResult,
  ToolCallContext,
  ToolCallDecision,
  ToolCallResultContext,
  TurnConfig,
  TurnContext
} from "../../src/public-types";

type Maybe<Value> = Value | void | Promise<Value | void>;

/** What one instance does; everything but the model is optional. */
export interface LoopSetup {
  readonly model: LanguageModel;
  readonly tools?: ToolSet;
  readonly system?: string;
  readonly beforeTurn?: (context: TurnContext) => Maybe<TurnConfig>;
  readonly beforeStep?: (context: PrepareStepContext) => Maybe<StepConfig>;
  readonly beforeToolCall?: (context: ToolCallContext) => Maybe<ToolCallDecision>;
  readonly afterToolCall?: (context: ToolCallResultContext) => void | Promise<void>;
  readonly onStepFinish?: (context: StepContext) => void | Promise<void>;
  readonly onChunk?: (context: ChunkContext) => void | Promise<void>;
  readonly repair?: (part: StoredToolPart) => UIMessage["parts"][number];
  readonly transform?: (result: StreamableResult) => StreamableResult;
}

const setups = new Map<string, LoopSetup>();

export function useLoop(name: string, setup: LoopSetup): void {
  setups.set(name, setup);
}

export interface AddInput {
  readonly a: number;
  readonly b: number;
}

/** The tool of most tests. Without an argument it adds two numbers. */
export function addTool(
  execute: (input: AddInput, options: unknown) => unknown = ({ a, b }) => ({ sum: a + b }),
  extra: { readonly needsApproval?: boolean } = {}
): ToolSet[string] {
  const inputSchema = z.object({ a: z.number(), b: z.number() });
  return tool({ description: "Adds two numbers.", inputSchema, execute: execute as never, ...extra });
}

export class LoopTestAgent extends Think {
  /** Events that went to the observability sink. */
  readonly events: { readonly type: string; readonly payload: unknown }[] = [];

  override observability = {
    emit: (event: { readonly type: string; readonly payload: unknown }) => void this.events.push(event)
  };

  get #setup(): LoopSetup {
    const setup = setups.get(this.name);
    if (!setup) throw new Error(`The test did not set up "${this.name}". Call useLoop() first.`);
    return setup;
  }

  override getModel(): LanguageModel {
    return this.#setup.model;
  }

  override getTools(): ToolSet {
    return this.#setup.tools ?? { add: addTool() };
  }

  override getSystemPrompt(): string {
    return this.#setup.system ?? "Base prompt.";
  }

  override beforeTurn(context: TurnContext): Maybe<TurnConfig> {
    return this.#setup.beforeTurn?.(context);
  }

  override beforeStep(context: PrepareStepContext): Maybe<StepConfig> {
    return this.#setup.beforeStep?.(context);
  }

  override beforeToolCall(context: ToolCallContext): Maybe<ToolCallDecision> {
    return this.#setup.beforeToolCall?.(context);
  }

  override afterToolCall(context: ToolCallResultContext): void | Promise<void> {
    return this.#setup.afterToolCall?.(context);
  }

  override onStepFinish(context: StepContext): void | Promise<void> {
    return this.#setup.onStepFinish?.(context);
  }

  override onChunk(context: ChunkContext): void | Promise<void> {
    return this.#setup.onChunk?.(context);
  }

  /** Opens the protected method to tests. */
  async carryOn(body?: Record<string, unknown>) {
    return this.continueLastTurn(body);
  }

  protected override repairInterruptedToolPart(part: StoredToolPart): UIMessage["parts"][number] {
    return this.#setup.repair?.(part) ?? super.repairInterruptedToolPart(part);
  }

  protected override _transformInferenceResult(result: StreamableResult): StreamableResult {
    return this.#setup.transform?.(result) ?? result;
  }
}
