/**
 * The value of one turn and the ways it can end. Everything that belongs to a single turn lives here and is passed along; nothing of
 * it is kept on the agent.
 */
import type { UIMessage } from "ai";
import type { ClientToolExecutor } from "../loop/client-tools";
import type { ClientToolSchema } from "../protocol/frames";
import type { ChatErrorClassification } from "./failures";

/** What the one who asks for a turn brings along. */
export interface TurnInput {
  /** The application's own fields of the request. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly clientTools?: readonly ClientToolSchema[] | undefined;
  /** Runs client tools on the caller's side; without it their calls go to the connected clients. */
  readonly onClientToolCall?: ClientToolExecutor | undefined;
  /** The message to answer when that is not the leaf: the answer becomes a new branch there. */
  readonly parentId?: string | undefined;
  /** Whether it carries on after tool results instead of answering a new message. Default: false. */
  readonly continuation?: boolean | undefined;
  /** The request id of the first attempt, when this is a later one. Default: the turn's own. */
  readonly rootRequestId?: string | undefined;
  /** Whose row must stay open until the turn has really ended, such as a submission's. */
  readonly ownerId?: string | undefined;
}

export interface Turn extends TurnInput {
  readonly requestId: string;
  /** The user messages that a client's request ended with. */
  readonly messageIds?: readonly string[] | undefined;
  /** The queue generation it was admitted in; a clear starts a new one. */
  readonly generation: number;
  /** Id for the assistant message, unless the provider brings its own. */
  readonly messageId: string;
  readonly continuation: boolean;
  readonly rootRequestId: string;
  readonly signal: AbortSignal;
}

/** Where a failed turn failed: before the model's stream began, or in it. */
export type FailureStage = "turn" | "stream";

/** How the model's stream ended. */
export type TurnOutcome =
  | { readonly status: "completed"; readonly output?: unknown }
  | { readonly status: "aborted" }
  /** It came to a standstill and was handed to recovery; with `error` recovery has given it up, and that is what clients are told. */
  | { readonly status: "interrupted"; readonly error?: string | undefined }
  | {
      readonly status: "error";
      readonly error: string;
      readonly cause: unknown;
      readonly stage: FailureStage;
      readonly classification?: ChatErrorClassification | undefined;
    };

/** How a turn ended for the one who asked for it. */
export type TurnResult =
  | (TurnOutcome & { readonly message: UIMessage | null })
  /** It never ran, or the conversation it belonged to was cleared before it could matter. */
  | { readonly status: "skipped" };
