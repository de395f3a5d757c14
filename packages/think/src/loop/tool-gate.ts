/**
 * Stands between the SDK and every tool that runs on the server: asks `beforeToolCall`, then runs, blocks or substitutes. Made once per run by
 * `run-loop.ts`; `sdk.ts` reports the start of each call.
 *
 * I1. No tool runs before its hook has decided. When the SDK did not report a call, the gate asks the hook itself.
 * I2. A tool that returns an async iterable stays a streaming tool: once a decision is known, `execute` answers synchronously.
 * I3. A promise of an async iterable ends as its last value; the SDK would take the iterable for the output.
 * I4. What a tool gives back is JSON data; anything else fails the call, not the turn.
 * I5. The internal final-answer tool is never shown to hooks.
 */
import type { ModelMessage, ToolSet, TypedToolCall } from "ai";
import { isThenable } from "../shared/is-thenable";
import { isRecord } from "../shared/json";
import { isAsyncIterable, lastValue } from "../shared/last-value";
import type { AgentHooks, ToolCallContext, ToolCallDecision } from "./hook-types";
import { asJsonResult } from "./json-result";
import { withExecute, type SdkTool, type ToolCallOptions, type ToolExecute } from "./sdk-tool";

/** The internal tool through which a model hands in a structured final answer. */
export const FINAL_ANSWER_TOOL = "think_final_answer";

export interface ToolGateOptions {
  readonly beforeToolCall?: AgentHooks["beforeToolCall"] | undefined;
  readonly signal: AbortSignal;
  /** The context that `beforeStep` set, undefined when none. */
  readonly context: () => unknown;
}

type Verdict = { readonly decision: ToolCallDecision | void } | { readonly error: unknown };

const ALLOWED: Verdict = { decision: undefined };

export class ToolGate {
  readonly #options: ToolGateOptions;
  readonly #verdicts = new Map<string, Verdict>();

  constructor(options: ToolGateOptions) {
    this.#options = options;
  }

  /** Whether somebody wants to be asked. */
  get isActive(): boolean {
    return this.#options.beforeToolCall !== undefined;
  }

  /** The SDK is about to run a call: has the hook decide. */
  async open(call: TypedToolCall<ToolSet>, messages: readonly ModelMessage[]): Promise<void> {
    if (call.toolName === FINAL_ANSWER_TOOL) return;
    this.#verdicts.set(call.toolCallId, await this.#ask(call, messages));
  }

  /**
   * The tools with their `execute` behind the gate; tools without one are left alone. Without a prototype: version 6 of the SDK takes
   * a call of `constructor` for one of a tool that runs in the client, and would wait for its answer.
   */
  wrap(tools: ToolSet): ToolSet {
    const wrapped: ToolSet = Object.create(null);
    for (const [name, tool] of Object.entries(tools)) wrapped[name] = this.#wrapTool(name, tool);
    return wrapped;
  }

  #wrapTool(name: string, tool: SdkTool): SdkTool {
    if (!tool.execute) return tool;
    const execute: ToolExecute = (input, options) => tool.execute?.(input, options as never);
    return withExecute(tool, (input, options) => {
      const run = (verdict: Verdict) =>
        asJsonResult(
          name,
          collapse(apply(verdict, name, input, (value) => execute(value, this.#withContext(options))))
        );
      if (!this.isActive || name === FINAL_ANSWER_TOOL) return run(ALLOWED);
      const verdict = this.#verdicts.get(options.toolCallId);
      this.#verdicts.delete(options.toolCallId);
      return verdict ? run(verdict) : this.#runUnannounced(name, tool, input, options, run);
    });
  }

  async #runUnannounced(
    toolName: string,
    tool: SdkTool,
    input: unknown,
    options: ToolCallOptions,
    run: (verdict: Verdict) => unknown
  ): Promise<unknown> {
    const { toolCallId, messages } = options;
    const dynamic = tool.type === "dynamic" ? { dynamic: true } : {};
    const call = { type: "tool-call", toolCallId, toolName, input, ...dynamic } as TypedToolCall<ToolSet>;
    return lastValue(await run(await this.#ask(call, messages)));
  }

  async #ask(call: TypedToolCall<ToolSet>, messages: readonly ModelMessage[]): Promise<Verdict> {
    const context: ToolCallContext = {
      ...call,
      stepNumber: undefined,
      messages,
      abortSignal: this.#options.signal
    };
    try {
      return { decision: await this.#options.beforeToolCall?.(context) };
    } catch (error) {
      return { error };
    }
  }

  /** Version 6 knows `experimental_context`, version 7 `context`; a tool finds the value under both names. */
  #withContext(options: ToolCallOptions): ToolCallOptions {
    const context = this.#options.context();
    if (context === undefined) return options;
    return { ...options, experimental_context: context, context: options.context ?? context };
  }
}

function apply(
  verdict: Verdict,
  toolName: string,
  input: unknown,
  execute: (input: unknown) => unknown
): unknown {
  if ("error" in verdict) throw verdict.error;
  const { decision } = verdict;
  switch (decision?.action) {
    case "block":
      return decision.reason ?? `The call of the tool "${toolName}" was blocked.`;
    case "substitute":
      return decision.output;
    case "allow":
      return execute(decision.input === undefined ? input : decision.input);
    case undefined:
      return execute(input);
    default:
      throw unknownDecision(decision);
  }
}

/** Types do not reach authors who write JavaScript; a decision that is none must not look like an empty result. */
function unknownDecision(decision: unknown): Error {
  const action = isRecord(decision) ? JSON.stringify(decision.action) : String(decision);
  return new TypeError(
    `beforeToolCall returned the action ${action}. Return "allow", "block" or "substitute", or nothing.`
  );
}

/** A direct iterable goes to the SDK as it is; one inside a promise becomes its last value. */
function collapse(result: unknown): unknown {
  return isThenable(result) && !isAsyncIterable(result) ? Promise.resolve(result).then(lastValue) : result;
}
