/**
 * What happens to an error before anyone is told: the author's `onChatError` may replace it, and observers get an event.
 * Called exactly once per failed request.
 */
import type { ChatErrorStage, Emit } from "../observability/events";
import { errorText } from "../shared/errors/error-text";

/** What kind of failure an error is, as the author's `classifyChatError` sees it. Only `context_overflow` changes what happens. */
export type ChatErrorClassification = "context_overflow" | "rate_limit" | "transient" | "fatal" | "unknown";

/** Where and when a request failed. */
export interface ChatErrorContext {
  readonly requestId?: string | undefined;
  readonly stage: ChatErrorStage;
  /** Whether the request's messages are in storage. */
  readonly messagesPersisted?: boolean | undefined;
  /** `context_overflow` when the conversation did not fit the model and could not be made to fit. */
  readonly classification?: ChatErrorClassification | undefined;
}

export interface Failure {
  /** What clients and callers are told. */
  readonly text: string;
  /** What programmatic callers get thrown. */
  readonly error: unknown;
}

export type ReportFailure = (error: unknown, context: ChatErrorContext) => Failure;

export interface FailureOptions {
  readonly onChatError: (error: unknown, context: ChatErrorContext) => unknown;
  readonly emit: Emit;
}

const NO_TEXT = "The assistant was interrupted.";

export function createFailureReporter({ onChatError, emit }: FailureOptions): ReportFailure {
  return (original, context) => {
    const error = replaced(onChatError, original, context);
    // Clients end a stream on an error frame, but an empty text tells nobody why.
    const text = errorText(error) || NO_TEXT;
    if (context.stage === "stream") emit("message:error", { error: text });
    const { requestId, stage, messagesPersisted } = context;
    emit("chat:request:failed", { requestId, stage, messagesPersisted, error: text });
    return { text, error };
  };
}

/** A hook that throws must not hide the failure it was told of. */
function replaced(
  onChatError: FailureOptions["onChatError"],
  error: unknown,
  context: ChatErrorContext
): unknown {
  try {
    // A hook that only logs has nothing to replace the error with.
    return onChatError(error, context) ?? error;
  } catch (hookError) {
    console.error(`[Think] onChatError failed: ${errorText(hookError)}`, hookError);
    return error;
  }
}
