/** Why a thought was not recorded. For host code; a model only sees the message. */

/** No value at all, an empty or blank text, or a failure while it was stored. */
export type ThoughtErrorCode = "missing_parameter" | "empty_thought" | "context_error";

export class ThoughtError extends Error {
  readonly code: ThoughtErrorCode;

  constructor(message: string, code: ThoughtErrorCode) {
    super(message);
    this.name = "ThoughtError";
    this.code = code;
  }
}
