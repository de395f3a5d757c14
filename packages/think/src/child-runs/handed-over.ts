/**
 * Which calls without an outcome were handed to another agent. Everybody who must not take such a call for his own asks here: the loop, recovery,
 * the barrier of continuations and whoever applies what clients say.
 *
 * I1. Providers may use the id of a call again in a later turn, and runs stay until they are cleared. A call whose id has an outcome elsewhere
 *     in the conversation is another one.
 */
import type { UIMessage } from "ai";
import { isSettled } from "../loop/repair-transcript";
import { isToolPart } from "../session/parts";
import type { Sql } from "../storage/sql";
import { runOfCall } from "./parent-run-store";

export interface HandedOver {
  /** Whether another agent was given the call, whatever became of that: nobody else answers it. */
  wasGiven(toolCallId: string): boolean;
  /** Whether that agent's answer can still be had: it was not stopped. */
  isAwaited(toolCallId: string): boolean;
}

interface Messages {
  readonly messages: readonly UIMessage[];
  readonly windowed: boolean;
  withToolCall(toolCallId: string): UIMessage | undefined;
}

export function handedOver(sql: Sql, conversation: Messages): HandedOver {
  const statusOf = (toolCallId: string) => {
    const run = runOfCall(sql, toolCallId);
    return run && !isUsedAgain(conversation, toolCallId) ? run.status : undefined;
  };
  return {
    wasGiven: (toolCallId) => statusOf(toolCallId) !== undefined,
    isAwaited: (toolCallId) => ![undefined, "aborted"].includes(statusOf(toolCallId))
  };
}

function isUsedAgain(conversation: Messages, toolCallId: string): boolean {
  const hasOutcome = ({ parts }: UIMessage) =>
    parts.some((part) => isToolPart(part) && part.toolCallId === toolCallId && isSettled(part));
  const early = conversation.windowed ? conversation.withToolCall(toolCallId) : undefined;
  return conversation.messages.some(hasOutcome) || (early !== undefined && hasOutcome(early));
}
