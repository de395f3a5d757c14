/**
 * Builds the frames that tell clients how a session does. Called by the compactor; sent like every other frame.
 */
import { COMPACTION_LIMITS } from "../shared/limits";
import { errorText } from "../shared/errors/error-text";
import { FRAME, type SessionErrorFrame, type SessionStatusFrame } from "./frames";

export interface SessionStatus {
  readonly phase: SessionStatusFrame["phase"];
  readonly tokenEstimate: number;
  readonly tokenThreshold: number | undefined;
  /** Estimate before a compaction that just succeeded. */
  readonly tokensBefore?: number | undefined;
}

export function sessionStatusFrame(status: SessionStatus): SessionStatusFrame {
  const { phase, tokenEstimate, tokenThreshold, tokensBefore } = status;
  return {
    type: FRAME.session,
    phase,
    tokenEstimate,
    tokenThreshold: tokenThreshold ?? null,
    ...(tokensBefore === undefined ? {} : { compacted: { tokensBefore } })
  };
}

/** Errors of models can carry whole prompts, so the text is cut. */
export function sessionErrorFrame(error: unknown): SessionErrorFrame {
  return {
    type: FRAME.sessionError,
    error: errorText(error).slice(0, COMPACTION_LIMITS.errorChars).toWellFormed()
  };
}
