/**
 * Whether the model can go on: what the latest answer's tool calls say about it. Pure; the barrier of the continuation.
 */
import type { UIMessage } from "ai";
import type { ClientToolSchema } from "../protocol/frames";
import { isToolPart, toolNameOf, type ToolPart } from "../session/parts";

/** `waiting`: a call has no outcome yet. `ready`: there is something new for the model. `nothing`: it has had the last word. */
export type BatchState = "ready" | "waiting" | "nothing";

/** The state of a call that was made and has no outcome yet. */
export const OPEN_CALL = "input-available";

const OPEN: ReadonlySet<string> = new Set([OPEN_CALL, "approval-requested"]);
const ANSWERED: ReadonlySet<string> = new Set([
  "output-available",
  "output-error",
  "output-denied",
  "approval-responded"
]);

/** `isElsewhere`: calls that were given to another agent. The model's next turn waits for those itself. Default: none. */
export function batchOf(
  messages: readonly UIMessage[],
  isElsewhere: (toolCallId: string) => boolean = () => false
): BatchState {
  const position = messages.findLastIndex((message) => message.role === "assistant");
  const latest = messages[position];
  if (!latest) return "nothing";
  const isOpen = (part: ToolPart) =>
    OPEN.has(part.state) && !(part.state === OPEN_CALL && isElsewhere(part.toolCallId));
  if (latest.parts.some((part) => isToolPart(part) && isOpen(part))) return "waiting";
  // Something was said to the model after its answer: it has not had the last word.
  if (position < messages.length - 1) return "ready";
  const lastStep = latest.parts.slice(latest.parts.findLastIndex((part) => part.type === "step-start") + 1);
  return lastStep.some((part) => isToolPart(part) && ANSWERED.has(part.state)) ? "ready" : "nothing";
}

/** Whether a person or a client still has to answer: an approval, or a call of a tool that runs in the client. */
export function hasOpenQuestion(
  messages: readonly UIMessage[],
  clientTools: readonly ClientToolSchema[]
): boolean {
  const names = new Set(clientTools.map((tool) => tool.name));
  const isOpen = (part: ToolPart) =>
    part.state === "approval-requested" || (part.state === OPEN_CALL && names.has(toolNameOf(part)));
  return messages.some(
    (message) =>
      message.role === "assistant" && message.parts.some((part) => isToolPart(part) && isOpen(part))
  );
}
