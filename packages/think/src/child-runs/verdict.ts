/**
 * How a run ended, decided from what is known of it. Pure. A run is judged by the result of its own turn; one whose isolate died by what
 * recovery made of it.
 */
import type { Incident } from "../recovery/incident";
import { CHILD_RUN_LIMITS } from "../shared/limits";
import type { TurnResult } from "../turn/turn";
import type { ChildRunEnd } from "./child-run";

const SKIPPED =
  "The run was skipped before the child could finish: its conversation was cleared. Start a new run.";
const INTERRUPTED = "The run was interrupted before the child could finish. Start a new run.";
const FAILED = "The run failed without saying why.";

/** The end that a turn's result means; undefined while recovery will carry the turn on. */
export function endOfTurn(result: TurnResult, isCleared: boolean): ChildRunEnd | undefined {
  switch (result.status) {
    case "completed":
      return { status: "completed" };
    case "skipped":
      return { status: "error", error: SKIPPED };
    case "aborted":
      return isCleared ? { status: "error", error: SKIPPED } : { status: "aborted" };
    case "interrupted":
      return result.error === undefined ? undefined : failure(result.error);
    case "error":
      return failure(result.error);
  }
}

export function failure(error: string): ChildRunEnd {
  return { status: "error", error: cut(error || FAILED) };
}

/** A text for a row; undefined stays it. */
export function cut<Text extends string | undefined>(text: Text): Text {
  return text?.slice(0, CHILD_RUN_LIMITS.errorChars) as Text;
}

/** What is known of a run that no turn of this isolate serves. */
export interface Stranded {
  /** What recovery says of its turn. */
  readonly incident: Pick<Incident, "status" | "reason"> | undefined;
  /** Whether a turn runs, or an interrupted one waits to be noticed. */
  readonly isBusy: boolean;
  /** How its last stream ended, when that is known: with an error text, or stopped. */
  readonly stream: { readonly error: string | null; readonly aborted: boolean } | undefined;
  /** Whether its turn was cut off and nobody carries it on, because recovery is off. */
  readonly isCutOff: boolean;
  /** Whether the model has answered it. */
  readonly isAnswered: boolean;
}

const UNDER_WAY: ReadonlySet<string> = new Set(["detected", "scheduled", "attempting"]);

/** Skipped, but nothing went wrong: a person or a client is being asked, and the answer will carry the conversation on. */
const ASKING = "awaiting_client_interaction";

/** The end of a stranded run; undefined while it can still go on by itself. */
export function endOfStranded(stranded: Stranded): ChildRunEnd | undefined {
  const { incident, isBusy, stream, isCutOff, isAnswered } = stranded;
  if (isBusy || (incident && UNDER_WAY.has(incident.status))) return undefined;
  if (stream?.error) return failure(stream.error);
  if (incident && incident.reason !== ASKING) return { status: "error", error: INTERRUPTED };
  if (stream?.aborted && !incident) return { status: "aborted" };
  return isAnswered && !isCutOff ? { status: "completed" } : { status: "error", error: INTERRUPTED };
}
