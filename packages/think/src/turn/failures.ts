/**
 * What happens to an error before anyone is told: the author's `onChatError` may replace it, and observers get an event.
 * Called exactly once per failed request.
 */
import type { ChatErrorStage, Emit } from "../observability/events";
import { errorText } from "../shared/errors/error-text";

/** Where and when a request failed. */
export interface ChatErrorContext {
  readonly requestId?: string | undefined;
  readonly stage: ChatErrorStage;
  /** Whether the request's messages are in storage. */
  readonly messagesPersisted?: boolean | undefined;
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

export function createFailureReporter({ onChatError, emit }: FailureOptions): ReportFailure {
  return (original, context) => {
    const error = replaced(onChatError, original, context);
    const text = errorText(error);
    if (context.stage === "stream") emit("message:error", { error: text });
    emit("chat:request:failed", { ...context, error: text });
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
