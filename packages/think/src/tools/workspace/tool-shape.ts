/**
 * The shape of every tool in this folder: an AI SDK tool with a zod schema and an `execute` that is always there. Spelled
 * out instead of inferred, because the SDK's own helper types differ between its majors.
 */
import type { Tool } from "ai";
import type { ZodType } from "zod";

/** What the tools use of the SDK's call options; they run without any. */
export interface ToolCallOptions {
  readonly toolCallId?: string;
  readonly messages?: readonly unknown[];
  /** Stops a running `bash` script. */
  readonly abortSignal?: AbortSignal | undefined;
  readonly context?: unknown;
  readonly experimental_context?: unknown;
}

/** What `toModelOutput` returns. */
export type ModelOutput = Awaited<ReturnType<NonNullable<Tool["toModelOutput"]>>>;

export interface WorkspaceTool<Input, Output> {
  readonly description: string;
  readonly inputSchema: ZodType<Input>;
  execute(input: Input, options?: ToolCallOptions): Promise<Output>;
}

/** A tool whose stored result differs from what the model is shown. */
export interface ConvertingTool<Input, Output> extends WorkspaceTool<Input, Output> {
  toModelOutput(call: {
    readonly toolCallId?: string;
    readonly input: unknown;
    readonly output: unknown;
  }): Promise<ModelOutput>;
}

/** A failure as a result: the model reads it and the turn goes on. */
export interface ToolFailure {
  /** One sentence: what is wrong and what to do. */
  readonly error: string;
}
