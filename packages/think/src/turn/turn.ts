/**
 * The value of one turn and the ways it can end. Everything that belongs to a single turn lives here and is passed along; nothing of
 * it is kept on the agent.
 */
import type { UIMessage } from "ai";

export interface Turn {
  readonly requestId: string;
  /** The queue generation it was admitted in; a clear starts a new one. */
  readonly generation: number;
  /** Id for the assistant message, unless the provider brings its own. */
  readonly messageId: string;
  /** Whether it carries on after tool results instead of answering a new message. */
  readonly continuation: boolean;
  /** The message to answer when that is not the leaf: the answer becomes a new branch there. */
  readonly parentId?: string | undefined;
  readonly signal: AbortSignal;
}

/** How the model's stream ended. */
export type TurnOutcome =
  | { readonly status: "completed" }
  | { readonly status: "aborted" }
  | { readonly status: "error"; readonly error: string; readonly cause: unknown };

/** How a turn ended for the one who asked for it. A skipped turn never ran: the conversation was cleared first. */
export type TurnResult = (TurnOutcome & { readonly message: UIMessage | null }) | { readonly status: "skipped" };
