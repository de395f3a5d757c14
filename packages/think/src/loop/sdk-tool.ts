/**
 * The SDK's tools as this package sees them: the one shape that both majors accept, and what `execute` is given.
 */
import { asSchema, jsonSchema, type ModelMessage, type ToolSet } from "ai";

export type SdkTool = ToolSet[string];

/** What the SDK passes to `execute`, in both majors. */
export interface ToolCallOptions {
  readonly toolCallId: string;
  readonly messages: ModelMessage[];
  readonly abortSignal?: AbortSignal | undefined;
  /** Version 7: the tool's own context. */
  readonly context?: unknown;
  /** Version 6: the context of the run. */
  readonly experimental_context?: unknown;
}

export type ToolExecute = (input: unknown, options: ToolCallOptions) => unknown;

export interface JsonTool {
  readonly description: string;
  /** JSON Schema of the input. */
  readonly parameters: Record<string, unknown>;
  readonly execute?: ToolExecute | undefined;
}

/** A tool whose input is described by a JSON Schema. The SDK does not check inputs against it; the receiver does. */
export function jsonTool({ description, parameters, execute }: JsonTool): SdkTool {
  return { description, inputSchema: jsonSchema(parameters), ...(execute ? { execute } : {}) };
}

/** A copy of a tool with another `execute`; everything else, hidden properties included, stays. */
export function withExecute(tool: SdkTool, execute: ToolExecute): SdkTool {
  const descriptors = Object.getOwnPropertyDescriptors(tool);
  const property = { value: execute, enumerable: true, configurable: true, writable: true };
  return Object.create(Object.getPrototypeOf(tool), { ...descriptors, execute: property }) as SdkTool;
}

/** The JSON Schema of a tool's input, whatever library described it. */
export async function inputJsonSchema(tool: SdkTool): Promise<unknown> {
  return await asSchema(tool.inputSchema as Parameters<typeof asSchema>[0]).jsonSchema;
}

export type InputCheck =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** Checks an input against a tool's own schema. A schema that is only JSON lets everything pass. */
export async function checkInput(tool: SdkTool, input: unknown): Promise<InputCheck> {
  const { validate } = asSchema(tool.inputSchema as Parameters<typeof asSchema>[0]);
  if (!validate) return { ok: true, value: input };
  const result = await validate(input);
  return result.success ? { ok: true, value: result.value } : { ok: false, error: result.error };
}
