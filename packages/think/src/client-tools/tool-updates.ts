/**
 * The rule by which an answer changes a tool part. Pure; used for stored messages and for the one that is being streamed.
 *
 * I1. An update that does not apply gives back the same part: the caller sees by the reference that nothing changed.
 * I2. A settled part (output, error or denial) is never changed, except by the outcome of the very execution it reports as paused.
 */
import type { UIMessage } from "ai";
import { isToolPart, type ToolPart } from "../session/parts";
import { isRecord } from "../shared/json";

export type ToolUpdate =
  /** A client ran the tool. */
  | { readonly kind: "result"; readonly output: unknown }
  /** A client could not or would not run it. */
  | { readonly kind: "failure"; readonly errorText?: string | undefined }
  | { readonly kind: "approval"; readonly approved: boolean }
  /** The server ran a tool of an earlier message, after its approval. */
  | { readonly kind: "late-output"; readonly output: unknown; readonly preliminary?: boolean | undefined }
  | { readonly kind: "late-failure"; readonly errorText?: string | undefined }
  /** A paused execution was decided. */
  | { readonly kind: "execution"; readonly executionId: string; readonly output: unknown };

const ANSWERABLE: ReadonlySet<string> = new Set([
  "input-available",
  "approval-requested",
  "approval-responded"
]);
const APPROVABLE: ReadonlySet<string> = new Set(["input-available", "approval-requested"]);
const SETTLED: ReadonlySet<string> = new Set(["output-available", "output-error", "output-denied"]);

/** The part after the update, or the same reference when it does not apply. */
export function updateToolPart(part: ToolPart, update: ToolUpdate): ToolPart {
  if (!applies(part, update)) return part;
  return { ...part, ...change(part, update) };
}

/** The message with its first part of that call which the change does not give back as it is, or undefined when there is none. */
export function updateMessage(
  message: UIMessage,
  toolCallId: string,
  change: (part: ToolPart) => ToolPart
): UIMessage | undefined {
  if (message.role !== "assistant") return undefined;
  for (const [position, part] of message.parts.entries()) {
    if (!isToolPart(part) || part.toolCallId !== toolCallId) continue;
    const updated = change(part);
    if (updated !== part) return { ...message, parts: message.parts.with(position, updated) };
  }
  return undefined;
}

function applies(part: ToolPart, update: ToolUpdate): boolean {
  switch (update.kind) {
    case "result":
    case "failure":
      return ANSWERABLE.has(part.state);
    case "approval":
      return APPROVABLE.has(part.state);
    case "late-output":
    case "late-failure":
      return !SETTLED.has(part.state) || ("preliminary" in part && part.preliminary);
    case "execution":
      return part.state === "output-available" && isPaused(part.output, update.executionId);
  }
}

function change(part: ToolPart, update: ToolUpdate): Readonly<Record<string, unknown>> {
  switch (update.kind) {
    case "result":
    case "execution":
      return { state: "output-available", output: update.output, preliminary: false };
    case "failure":
      return { state: "output-error", errorText: update.errorText ?? "Tool execution denied by user" };
    case "approval": {
      const approval = { ...("approval" in part ? part.approval : undefined), approved: update.approved };
      return { state: update.approved ? "approval-responded" : "output-denied", approval };
    }
    case "late-output":
      return { state: "output-available", output: update.output, preliminary: update.preliminary ?? false };
    case "late-failure":
      return {
        state: "output-error",
        errorText: update.errorText ?? "Tool execution failed",
        output: undefined,
        preliminary: undefined
      };
  }
}

function isPaused(output: unknown, executionId: string): boolean {
  return isRecord(output) && output.status === "paused" && output.executionId === executionId;
}
