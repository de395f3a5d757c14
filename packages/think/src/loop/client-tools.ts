/**
 * Tools that run in the client, made from the schemas it sent. Without an executor they have no `execute`: the model's call then ends the step
 * and goes to the client. With one (RPC callers bring it) the call is answered in the same turn.
 */
import type { ToolSet } from "ai";
import type { ClientToolSchema } from "../protocol/frames";
import { jsonTool } from "./sdk-tool";

/** A call of a client tool, for an executor on the caller's side. */
export interface ClientToolCall {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}

export type ClientToolExecutor = (call: ClientToolCall) => Promise<unknown>;

export function clientTools(schemas: readonly ClientToolSchema[], execute?: ClientToolExecutor): ToolSet {
  const names = new Set<string>();
  for (const { name } of schemas) {
    if (names.has(name))
      console.warn(`[Think] The client sent the tool "${name}" more than once; the last one is used.`);
    names.add(name);
  }
  return Object.fromEntries(schemas.map((schema) => [schema.name, toTool(schema, execute)]));
}

function toTool(
  { name, description, parameters }: ClientToolSchema,
  execute?: ClientToolExecutor
): ToolSet[string] {
  return jsonTool({
    description: description ?? "",
    parameters: parameters ?? { type: "object" },
    execute: execute && ((input, { toolCallId }) => execute({ toolName: name, input, toolCallId }))
  });
}
