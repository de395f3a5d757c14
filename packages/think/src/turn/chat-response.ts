/** What the author's `onChatResponse` gets. */
import type { UIMessage } from "ai";
import type { TurnResponse } from "./turn-parts";

export interface ChatResponseResult {
  /** The assistant message; without parts when the model said nothing. */
  readonly message: UIMessage;
  readonly requestId: string;
  /** Whether the turn carried on after tool results. */
  readonly continuation: boolean;
  readonly status: "completed" | "error" | "aborted";
  /** What clients were told, when `status` is `error`. */
  readonly error?: string;
}

export function toChatResponse({ turn, outcome, message }: TurnResponse): ChatResponseResult {
  const { requestId, continuation } = turn;
  const error = outcome.status === "error" ? { error: outcome.error } : {};
  // Interrupted turns have no response of their own; the type does not know that.
  const status = outcome.status === "interrupted" ? "aborted" : outcome.status;
  return { message, requestId, continuation, status, ...error };
}
