/**
 * The one error class of the package. `code` is stable and meant for programs, `message` names cause and remedy
 * for people, `cause` keeps the original. A symbol marks the class so that the check works across duplicate
 * copies of the package in one bundle.
 */

const marker = Symbol.for("@cloudflare/think/error");

/** What went wrong, as a closed set. */
export type ThinkErrorCode =
  | "model-missing"
  | "no-messages"
  | "invalid-message"
  | "message-too-large"
  | "frame-too-large"
  | "invalid-request"
  | "newer-database"
  | "session-not-found"
  | "message-not-found"
  | "invalid-session"
  | "invalid-import"
  | "export-too-large"
  | "history-too-large"
  | "compaction-missing"
  | "turn-active"
  | "context-unknown"
  | "context-readonly"
  | "context-too-large"
  | "context-invalid"
  | "context-provider-failed"
  | "invalid-option"
  | "execute-misconfigured"
  | "tool-not-shared"
  | "tool-input-invalid"
  | "tool-failed"
  | "tool-timeout"
  | "tool-aborted"
  | "tool-result-too-large"
  | "bridge-busy"
  | "parent-lost"
  | "agent-unknown"
  | "invalid-agent"
  | "output-too-large";

export interface ThinkErrorOptions {
  readonly code: ThinkErrorCode;
  /** Whether the same call may succeed when repeated unchanged. Default: false. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

export class ThinkError extends Error {
  readonly code: ThinkErrorCode;
  readonly retryable: boolean;
  readonly [marker] = true;

  constructor(message: string, options: ThinkErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ThinkError";
    this.code = options.code;
    this.retryable = options.retryable ?? false;
  }

  /** True for a ThinkError of this or any other copy of the package, also for one that came over RPC, which keeps no symbols. */
  static is(value: unknown): value is ThinkError {
    if (typeof value !== "object" || value === null) return false;
    if (marker in value) return true;
    return (
      value instanceof Error &&
      value.name === "ThinkError" &&
      "code" in value &&
      typeof value.code === "string"
    );
  }
}
