/**
 * Runs calls of shared tools in the parent. Made by `tool-bridge.ts`, one per bridge.
 *
 * I1. A call ends within its time limit and when it is aborted, also when the tool ignores its signal.
 * I2. What leaves is JSON of a bounded length; a result that is none becomes a failure that says so.
 * I3. Never throws: every failure is an answer. What it cannot answer is a mistake in the author's set, which `describe` has told already.
 */
import { checkInput, type SdkTool, type ToolCallOptions } from "../loop/sdk-tool";
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { parseJson } from "../shared/json";
import { lastValue } from "../shared/last-value";
import { ORCHESTRATOR_LIMITS } from "../shared/limits";
import { failure, type BridgeAnswer, type BridgeCall } from "./bridge-protocol";
import { isToolName, sharedTools, type ToolSource } from "./shared-tools";

export interface ToolCallLimits {
  /** Time of one call, in ms. */
  readonly callTimeoutMs: number;
  /** Largest result, in UTF-16 code units of its JSON. */
  readonly resultChars: number;
  /** Calls at once. */
  readonly concurrentCalls: number;
}

interface Parts {
  readonly source: ToolSource | undefined;
  readonly limits: ToolCallLimits;
  readonly clock: Clock;
}

/** A call that is running, and the way to end it early. */
type End = (answer: BridgeAnswer) => void;

export class ToolCalls {
  readonly #parts: Parts;
  readonly #running = new Map<string, End>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** JSON of a `BridgeAnswer`. */
  async run(call: BridgeCall): Promise<string> {
    const refused = this.#refusal(call);
    if (refused) return JSON.stringify(refused);
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<BridgeAnswer>();
    const { callTimeoutMs } = this.#parts.limits;
    const end: End = (answer) => {
      resolve(answer);
      controller.abort();
    };
    const timer = this.#parts.clock.setTimer(
      () => end(failure("tool-timeout", timeoutText(call.tool, callTimeoutMs))),
      callTimeoutMs
    );
    this.#running.set(call.callId, end);
    try {
      const work = this.#answer(call, controller.signal);
      return this.#encode(call.tool, await Promise.race([work, promise]));
    } finally {
      timer.cancel();
      this.#running.delete(call.callId);
    }
  }

  /** Ends a call; an id that is not running is no error. */
  abort(callId: string): void {
    this.#running.get(callId)?.(failure("tool-aborted", "The call was stopped."));
  }

  #refusal({ callId, tool, input }: BridgeCall): BridgeAnswer | undefined {
    if (typeof callId !== "string" || callId === "" || callId.length > ORCHESTRATOR_LIMITS.callIdChars) {
      return failure("tool-input-invalid", "The call has no usable id.");
    }
    if (this.#running.has(callId)) {
      return failure(
        "tool-input-invalid",
        `A call with the id ${JSON.stringify(callId)} is running already.`
      );
    }
    if (typeof tool !== "string" || !isToolName(tool)) return notShared(tool);
    if (typeof input !== "string" || input.length > ORCHESTRATOR_LIMITS.inputChars) {
      return failure(
        "tool-input-invalid",
        `The input of "${tool}" is longer than ${ORCHESTRATOR_LIMITS.inputChars} characters of JSON; send less.`
      );
    }
    if (this.#running.size >= this.#parts.limits.concurrentCalls) {
      return failure(
        "bridge-busy",
        `The parent is running ${this.#running.size} shared tools already; try again when fewer are running.`
      );
    }
    return undefined;
  }

  async #answer(call: BridgeCall, signal: AbortSignal): Promise<BridgeAnswer> {
    try {
      const tool = (await sharedTools(this.#parts.source)).get(call.tool);
      if (!tool) return notShared(call.tool);
      const parsed = parseJson(call.input);
      if (!parsed.ok) return failure("tool-input-invalid", `The input of "${call.tool}" ${parsed.reason}.`);
      const checked = await checkInput(tool, parsed.value);
      if (!checked.ok) {
        return failure(
          "tool-input-invalid",
          cut(`The input of "${call.tool}" does not fit its schema: ${errorText(checked.error)}`)
        );
      }
      signal.throwIfAborted();
      return { ok: true, output: await lastValue(await execute(tool, call.callId, checked.value, signal)) };
    } catch (error) {
      return failure("tool-failed", cut(errorText(error)));
    }
  }

  #encode(tool: string, answer: BridgeAnswer): string {
    if (!answer.ok) return JSON.stringify(answer);
    const { resultChars } = this.#parts.limits;
    let output: string;
    try {
      output = JSON.stringify(answer.output) ?? "null";
    } catch (error) {
      const reason = `"${tool}" ran, but its result cannot be written as JSON: ${errorText(error)}`;
      return JSON.stringify(failure("tool-failed", cut(reason)));
    }
    if (output.length > resultChars) {
      const reason = `"${tool}" ran, but its result has ${output.length} characters and at most ${resultChars} may cross; ask for less.`;
      return JSON.stringify(failure("tool-result-too-large", reason));
    }
    return `{"ok":true,"output":${output}}`;
  }
}

async function execute(
  tool: SdkTool,
  callId: string,
  input: unknown,
  abortSignal: AbortSignal
): Promise<unknown> {
  const options: ToolCallOptions = { toolCallId: `bridge:${callId}`, messages: [], abortSignal };
  return tool.execute?.(input, options as never);
}

function notShared(tool: unknown): BridgeAnswer {
  const name = typeof tool === "string" ? JSON.stringify(tool.slice(0, 80)) : "without a name";
  return failure(
    "tool-not-shared",
    `The tool ${name} is not shared by the parent. Add it to the tools of its ToolBridge, or do without.`
  );
}

function timeoutText(tool: string, ms: number): string {
  return `"${tool}" did not answer within ${ms} ms and was stopped; whether it took effect is unknown.`;
}

function cut(text: string): string {
  return text.slice(0, ORCHESTRATOR_LIMITS.errorChars);
}
