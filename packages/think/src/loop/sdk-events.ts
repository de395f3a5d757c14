/**
 * The callbacks of one SDK run, in the one shape the hooks have. Version 6 and 7 report tool calls, chunks and usage differently; what
 * leaves this file is the same on both. Callbacks without a listener are not passed.
 */
import type { ModelMessage, ToolSet, TypedToolCall } from "ai";
import type {
  ChunkContext,
  ChunkPart,
  PrepareStepContext,
  StepContext,
  ToolCallOutcome,
  ToolCallResultContext
} from "./hook-types";
import type { Hooks } from "./hooks";
import type { StepGuard } from "./step-guard";
import { FINAL_ANSWER_TOOL, ToolGate } from "./tool-gate";

export interface RunOptions {
  readonly tools: ToolSet;
  readonly hooks: Hooks;
  readonly signal: AbortSignal;
  readonly guard?: StepGuard | undefined;
}

interface ToolStarted {
  readonly toolCall: TypedToolCall<ToolSet>;
  readonly messages: ModelMessage[];
}

/** The end of a tool call in version 6. */
interface ToolFinished extends ToolStarted {
  readonly success: boolean;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly durationMs: number;
}

/** The end of a tool call in version 7. */
interface ToolEnded extends ToolStarted {
  readonly toolOutput: { readonly type: string; readonly output?: unknown; readonly error?: unknown };
  readonly toolExecutionMs: number;
}

/** The parts that version 6 reports; version 7 reports every one. */
const CHUNKS: ReadonlySet<string> = new Set<ChunkPart["type"]>([
  "text-delta",
  "reasoning-delta",
  "source",
  "tool-call",
  "tool-input-start",
  "tool-input-delta",
  "tool-result",
  "raw"
]);

/** The tools behind their gate, and the callbacks to pass to the SDK along with them. */
export function createRun({ tools, hooks, signal, guard }: RunOptions): Record<string, unknown> {
  const { beforeStep, afterToolCall, onStepFinish, onChunk } = hooks;
  let stepNumber: number | undefined;
  let stepContext: unknown;
  const gate = new ToolGate({ beforeToolCall: hooks.beforeToolCall, signal, context: () => stepContext });

  const prepareStep = async (options: PrepareStepContext) => {
    ({ stepNumber } = options);
    const guarded = await guard?.(options);
    const shorter = guarded ? { messages: guarded } : {};
    if (!beforeStep) return shorter;
    const steps = options.steps.map(withFlatUsage);
    const config = await beforeStep({ ...options, ...shorter, steps, experimental_context: stepContext });
    stepContext = config?.experimental_context ?? stepContext;
    return { ...shorter, ...config };
  };

  const finished = async (event: ToolFinished | ToolEnded) => {
    if (event.toolCall.toolName !== FINAL_ANSWER_TOOL) await afterToolCall?.(resultOf(event, stepNumber));
  };

  return {
    tools: gate.wrap(tools),
    prepareStep,
    ...(gate.isActive
      ? { experimental_onToolCallStart: (event: ToolStarted) => gate.open(event.toolCall, event.messages) }
      : {}),
    ...(afterToolCall ? { experimental_onToolCallFinish: finished } : {}),
    ...(onStepFinish ? { onStepFinish: (step: StepContext) => onStepFinish(withFlatUsage(step)) } : {}),
    ...(onChunk ? { onChunk: chunkFilter(onChunk) } : {})
  };
}

function resultOf(event: ToolFinished | ToolEnded, stepNumber: number | undefined): ToolCallResultContext {
  const { toolCall, messages } = event;
  const durationMs = "toolOutput" in event ? event.toolExecutionMs : event.durationMs;
  // The SDK's type of a call has an error of its own, for calls that never ran; those are not reported here.
  return { ...toolCall, ...outcomeOf(event), stepNumber, messages, durationMs } as ToolCallResultContext;
}

function outcomeOf(event: ToolFinished | ToolEnded): ToolCallOutcome {
  const { output, error } = "toolOutput" in event ? event.toolOutput : event;
  const success = "toolOutput" in event ? event.toolOutput.type === "tool-result" : event.success;
  return success ? { success, output } : { success, error };
}

/** Version 7 has the counts only in nested objects. They are set in place, so that later steps see them too. */
function withFlatUsage(step: StepContext): StepContext {
  const { usage } = step;
  if (!("cachedInputTokens" in usage))
    Object.assign(usage, { cachedInputTokens: usage.inputTokenDetails.cacheReadTokens });
  if (!("reasoningTokens" in usage))
    Object.assign(usage, { reasoningTokens: usage.outputTokenDetails.reasoningTokens });
  return step;
}

/** Leaves out the parts that only version 7 reports, and those of the internal final answer. */
function chunkFilter(
  onChunk: NonNullable<Hooks["onChunk"]>
): (context: ChunkContext) => void | Promise<void> {
  const hiddenCalls = new Set<string>();
  return (context) => {
    const { chunk } = context;
    if (!CHUNKS.has(chunk.type)) return undefined;
    if (chunk.type === "tool-input-start" && chunk.toolName === FINAL_ANSWER_TOOL) hiddenCalls.add(chunk.id);
    if ("toolName" in chunk && chunk.toolName === FINAL_ANSWER_TOOL) return undefined;
    if (chunk.type === "tool-input-delta" && hiddenCalls.has(chunk.id)) return undefined;
    return onChunk(context);
  };
}
