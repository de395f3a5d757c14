/**
 * What `execute` answers, and how it is kept small. The runtime keeps code, arguments and results whole; the transcript and the model
 * get bounded copies made here. Also used for the outcomes of approvals.
 */
import { isRecord } from "../../shared/json";
import { EXECUTE_LIMITS } from "../../shared/limits";

/** A call that waits for a person. */
export interface PendingAction {
  readonly executionId: string;
  /** Its place among the calls of the execution. */
  readonly seq: number;
  /** The sandbox namespace, for example `tools`. */
  readonly connector: string;
  readonly method: string;
  /** As the code gave them; cut in transcripts, whole in `pendingExecutions()`. */
  readonly args: unknown;
}

export type ExecuteOutput =
  | {
      readonly status: "completed";
      readonly executionId: string;
      readonly result: unknown;
      readonly logs?: readonly string[];
    }
  | {
      readonly status: "paused";
      readonly executionId: string;
      readonly pending: readonly PendingAction[];
    }
  | {
      readonly status: "error";
      readonly executionId: string;
      /** One sentence for the model. */
      readonly error: string;
      readonly logs?: readonly string[];
    };

/** What the transcript shows of an execution, rejections included. */
export type ExecutionOutcome =
  | ExecuteOutput
  | { readonly status: "rejected"; readonly executionId: string; readonly reason: string };

/** The JSON of a value, or why it has none. Never throws. */
export function jsonOf(value: unknown): string {
  try {
    const replacer = (_key: string, nested: unknown) =>
      typeof nested === "bigint" ? nested.toString() : nested;
    return JSON.stringify(value, replacer) ?? "null";
  } catch {
    return '"[not serialisable]"';
  }
}

/** A value whose JSON is short enough, as plain data; otherwise the start of its text and a marker. */
export function bounded(value: unknown, chars: number): unknown {
  const json = jsonOf(value);
  if (json.length <= chars) return JSON.parse(json);
  const text = typeof value === "string" ? value : json;
  return `${text.slice(0, chars)}\n--- TRUNCATED --- ${text.length} characters in all; return or pass less.`;
}

export const boundedResult = (value: unknown): unknown => bounded(value, EXECUTE_LIMITS.resultChars);

export function boundedText(text: unknown, chars: number): string {
  const whole = typeof text === "string" ? text : jsonOf(text);
  return whole.length <= chars ? whole : `${whole.slice(0, chars)} --- TRUNCATED ---`;
}

/** Newest lines win: an endless loop's first lines say little. */
export function boundedLogs(logs: unknown, chars: number): string[] {
  if (!Array.isArray(logs)) return [];
  const kept: string[] = [];
  let left = chars;
  for (const line of logs.toReversed()) {
    if (left <= 0) break;
    const text = boundedText(line, left);
    kept.push(text);
    left -= text.length + 1;
  }
  return kept.toReversed();
}

/** Cuts the arguments of waiting calls for the transcript. Anything but a paused output is returned as it is. */
export function truncatePausedExecutionOutput<Output>(output: Output): Output {
  if (!isRecord(output) || output.status !== "paused" || !Array.isArray(output.pending)) return output;
  const pending = output.pending.map((action: unknown) =>
    isRecord(action) ? { ...action, args: bounded(action.args, EXECUTE_LIMITS.pendingArgsChars) } : action
  );
  return { ...output, pending };
}

/** The runtime's answer without its audit log, bounded. */
export function toExecuteOutput(raw: unknown): ExecuteOutput {
  const output = isRecord(raw) ? raw : {};
  const executionId = typeof output.executionId === "string" ? output.executionId : "";
  const lines = boundedLogs(output.logs, EXECUTE_LIMITS.logChars);
  const logs = lines.length > 0 ? { logs: lines } : {};
  switch (output.status) {
    case "completed":
      return { status: "completed", executionId, result: output.result ?? null, ...logs };
    case "paused":
      return truncatePausedExecutionOutput({
        status: "paused",
        executionId,
        // The runtime's own record, not the sandbox's.
        pending: output.pending as readonly PendingAction[]
      });
    default:
      return {
        status: "error",
        executionId,
        error: boundedText(output.error ?? "The execution failed.", EXECUTE_LIMITS.errorChars),
        ...logs
      };
  }
}
