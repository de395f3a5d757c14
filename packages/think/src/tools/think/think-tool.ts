/**
 * The `think` tool: the model writes down a thought, nothing else happens. Every outcome is a result, never an exception.
 *
 * Knows no platform: who the current agent is comes from `create-think-tool.ts`.
 */
import { jsonSchema, type Schema } from "ai";
import { errorText } from "../../shared/errors/error-text";
import { ThinkError } from "../../shared/errors/think-error";
import { isRecord } from "../../shared/json";
import { toolInput } from "../../shared/tool-input";
import { ThoughtError } from "../../thoughts/thought-error";
import { ThoughtLog, type ThoughtLogOptions } from "../../thoughts/thought-log";
import type { ModelOutput, ToolCallOptions } from "../workspace/tool-shape";

/** A value, or how to find it when a thought comes. An empty text counts as none. */
export type SessionIdSource = string | (() => string | undefined);

export interface ThinkToolOptions extends ThoughtLogOptions {
  /** The log to write to; share one with your own code. It has its own limits, storage and clock. Default: a new one. */
  readonly log?: ThoughtLog;
  /** The session's id, first choice. */
  readonly workflowId?: SessionIdSource;
  /** The session's id, second choice. Then comes the current agent's name, then `"default"`. */
  readonly sessionId?: SessionIdSource;
  /** Replaces the text that tells the model when to think. */
  readonly description?: string;
}

/** What a model should send. What it does send may be anything. */
export interface ThinkInput {
  readonly thought: string;
}

/** The documented results; the names are those of the document. */
export type ThinkOutput =
  | {
      readonly status: "success";
      readonly step: number;
      readonly thought: string;
      readonly context_size: number;
      readonly session_id: string;
    }
  | { readonly status: "error"; readonly message: string };

/** A tool for the key `think`. */
export interface ThinkTool {
  readonly description: string;
  readonly inputSchema: Schema<ThinkInput>;
  execute(input: ThinkInput, options?: ToolCallOptions): Promise<ThinkOutput>;
  toModelOutput(call: { readonly output: unknown }): ModelOutput;
}

const description =
  "Write down a thought. It finds out nothing and changes nothing; it is kept in a log for the rest of the session. Use it to reason " +
  "about a hard problem step by step, or to remember what matters later.";

/** Says that a thought is required, and accepts anything: a missing one must get the documented answer. */
const inputSchema = (): Schema<ThinkInput> =>
  jsonSchema<ThinkInput>(
    {
      type: "object",
      properties: {
        thought: { type: "string", description: "The thought. Be specific and detailed in your reasoning." }
      },
      required: ["thought"],
      additionalProperties: false
    },
    { validate: (value) => ({ success: true, value: value as ThinkInput }) }
  );

export function thinkToolFor(options: ThinkToolOptions, currentName: () => string | undefined): ThinkTool {
  const log = logOf(options);
  return {
    description: options.description ?? description,
    inputSchema: inputSchema(),
    execute: async (input) => {
      try {
        const sessionId =
          idOf(options.workflowId) ?? idOf(options.sessionId) ?? idOf(currentName) ?? "default";
        const { step, thought, contextSize } = await log.record(sessionId, thoughtOf(input));
        return { status: "success", step, thought, context_size: contextSize, session_id: sessionId };
      } catch (error) {
        return { status: "error", message: messageOf(error) };
      }
    },
    toModelOutput: ({ output }) => toModelOutput(output)
  };
}

function logOf(options: ThinkToolOptions): ThoughtLog {
  const { log, maxThoughts, maxThoughtLength, storage, now } = options;
  const own = Object.entries({ maxThoughts, maxThoughtLength, storage, now }).filter(
    ([, value]) => value !== undefined
  );
  if (log === undefined) return new ThoughtLog(Object.fromEntries(own) as ThoughtLogOptions);
  if (own.length === 0) return log;
  const names = own.map(([name]) => name).join(", ");
  throw new ThinkError(
    `createThinkTool was given a log and ${names}: give ${names} to the ThoughtLog instead.`,
    {
      code: "invalid-option"
    }
  );
}

function idOf(source: SessionIdSource | undefined): string | undefined {
  const id = typeof source === "function" ? source() : source;
  return id === "" ? undefined : id;
}

/** Numbers and booleans are thoughts too; what cannot be a text counts as none. */
function thoughtOf(input: unknown): string {
  const { thought } = toolInput(input);
  if (typeof thought === "string") return thought;
  if (typeof thought === "number" || typeof thought === "boolean") return String(thought);
  throw new ThoughtError("'thought' parameter is required", "missing_parameter");
}

function messageOf(error: unknown): string {
  if (error instanceof ThoughtError && error.code !== "context_error") return `Error: ${error.message}`;
  return `Error processing thought: ${errorText(error)}`;
}

/** Also sees what other releases stored, and what was shortened in an old message. */
function toModelOutput(output: unknown): ModelOutput {
  if (isRecord(output)) {
    const { status, message } = output;
    if (status === "error" && typeof message === "string") return { type: "error-text", value: message };
    return { type: "json", value: JSON.parse(JSON.stringify(output)) };
  }
  return { type: "text", value: typeof output === "string" ? output : (JSON.stringify(output) ?? "") };
}
