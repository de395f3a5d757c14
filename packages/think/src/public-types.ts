/**
 * The types users import, gathered from the modules that define them. Re-exported by `index.ts`.
 */
export type {
  ChunkContext,
  ChunkPart,
  PrepareStepContext,
  StepConfig,
  StepContext,
  StreamableResult,
  ToolCallContext,
  ToolCallDecision,
  ToolCallOutcome,
  ToolCallResultContext,
  TurnContext
} from "./loop/hook-types";
export type { McpWait } from "./loop/loop-agent";
export type { StoredToolPart } from "./loop/repair-transcript";
export type { TurnConfig } from "./loop/turn-config";
export type {
  PrepareStepFunction,
  PrepareStepResult,
  StepResult,
  StopCondition,
  TextStreamPart,
  TypedToolCall,
  TypedToolResult
} from "ai";
