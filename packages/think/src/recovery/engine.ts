/**
 * The decision of recovery, pure: what is known of an interrupted turn and the settings -> the next state of its incident. The shell
 * (`recovery.ts`) gathers the evidence and does what is decided.
 *
 * I1. Duration alone never ends a turn that makes progress; only work, attempts and standstill are bounded.
 * I2. While a person or a client is being asked, no budget is used and none can run out.
 * I3. Detections within `debounceMs` of each other without progress are one attempt; each one moves the window.
 */
import { RECOVERY_LIMITS } from "../shared/limits";
import type { ChatRecoveryProgressContext, ResolvedChatRecoveryConfig } from "./config";
import { incidentIdOf, type Incident, type RecoveryKind } from "./incident";

/** What is known when an interruption is seen. */
export interface Evidence {
  readonly requestId: string;
  readonly rootRequestId: string;
  readonly latestUserMessageId: string | undefined;
  readonly kind: RecoveryKind;
  readonly sessionId: string;
  /** Whose turn it is. */
  readonly ownerId?: string | undefined;
  /** The counter of durable writes of streamed work. */
  readonly progress: number;
  /** Whether a person or a client is being asked. */
  readonly waitingOnHuman: boolean;
  readonly now: number;
}

export type ExhaustionReason =
  | "work_budget_exceeded"
  | "no_progress_timeout"
  | "recovery_aborted"
  | "max_attempts_exceeded";

/** Where an incident stands after an interruption. `ask`: what the author must be asked before it goes on. */
export interface Advance {
  readonly incident: Incident;
  readonly isNew: boolean;
  readonly exhausted: ExhaustionReason | null;
  readonly ask: ChatRecoveryProgressContext | null;
}

type Bounds = Pick<ResolvedChatRecoveryConfig, "maxAttempts" | "noProgressTimeoutMs" | "maxRecoveryWork">;

export function advanceIncident(previous: Incident | null, evidence: Evidence, bounds: Bounds): Advance {
  const { now, progress, waitingOnHuman } = evidence;
  const madeProgress = previous !== null && progress > (previous.progress ?? progress);
  const lastProgressAt =
    madeProgress || waitingOnHuman || !previous ? now : (previous.lastProgressAt ?? previous.firstSeenAt);
  const workBaseline = previous?.workBaseline ?? progress;
  const work = Math.max(previous?.progress ?? 0, progress) - workBaseline;
  const incident: Incident = {
    incidentId: incidentIdOf(evidence.rootRequestId, evidence.latestUserMessageId),
    requestId: evidence.requestId,
    recoveryRootRequestId: evidence.rootRequestId,
    recoveryKind: evidence.kind,
    attempt: nextAttempt(previous, evidence, madeProgress),
    maxAttempts: bounds.maxAttempts,
    status: "attempting",
    firstSeenAt: previous?.firstSeenAt ?? now,
    lastAttemptAt: now,
    lastProgressAt,
    progress: Math.max(previous?.progress ?? 0, progress),
    workBaseline,
    sessionId: evidence.sessionId,
    ...(evidence.ownerId === undefined ? {} : { ownerId: evidence.ownerId }),
    ...(previous?.scheduleId === undefined ? {} : { scheduleId: previous.scheduleId }),
    ...(previous?.plans === undefined ? {} : { plans: previous.plans })
  };
  const known = previous !== null && !waitingOnHuman;
  const hard = known ? hardBound({ work, now, lastProgressAt }, bounds) : null;
  const attempts = !waitingOnHuman && incident.attempt > bounds.maxAttempts;
  const ask = known && hard === null ? question(incident, work) : null;
  const exhausted = hard ?? (attempts ? "max_attempts_exceeded" : null);
  return { incident: sealed(incident, exhausted), isNew: previous === null, exhausted, ask };
}

/** The author has been asked and said no. */
export function abandon(advance: Advance): Advance {
  return {
    ...advance,
    incident: sealed(advance.incident, "recovery_aborted"),
    exhausted: "recovery_aborted",
    ask: null
  };
}

function nextAttempt(previous: Incident | null, evidence: Evidence, madeProgress: boolean): number {
  const { now, waitingOnHuman } = evidence;
  if (!previous || madeProgress) return 1;
  if (waitingOnHuman) return previous.attempt;
  const isDebounced = now - previous.lastAttemptAt < RECOVERY_LIMITS.debounceMs;
  return isDebounced ? previous.attempt : previous.attempt + 1;
}

function hardBound(
  { work, now, lastProgressAt }: { work: number; now: number; lastProgressAt: number },
  bounds: Bounds
): ExhaustionReason | null {
  if (Number.isFinite(bounds.maxRecoveryWork) && work > bounds.maxRecoveryWork) return "work_budget_exceeded";
  return now - lastProgressAt > bounds.noProgressTimeoutMs ? "no_progress_timeout" : null;
}

function question(incident: Incident, work: number): ChatRecoveryProgressContext {
  const { incidentId, requestId, attempt, maxAttempts, recoveryKind, lastAttemptAt, firstSeenAt } = incident;
  return {
    ...{ incidentId, requestId, attempt, maxAttempts, recoveryKind, work },
    recoveryRootRequestId: incident.recoveryRootRequestId ?? requestId,
    ageMs: lastAttemptAt - firstSeenAt
  };
}

function sealed(incident: Incident, reason: ExhaustionReason | null): Incident {
  return reason === null ? incident : { ...incident, status: "exhausted", reason };
}

/** What is left of an interrupted turn. */
export interface Remains {
  /** Whether stored chunks make a message worth keeping. */
  readonly hasPartial: boolean;
  /** Whether the turn was itself a continuation. */
  readonly continuation: boolean;
  /** Whether the conversation still ends where it did when the turn began. */
  readonly isUnchanged: boolean;
  /** Role of the last message. */
  readonly leafRole: string | undefined;
}

/**
 * How the turn goes on: `retry` when nothing of the answer exists and the question still waits, whatever the stream's row says; `continue`
 * when there is an answer to carry on from; null when there is neither.
 */
export function recoveryKind({
  hasPartial,
  continuation,
  isUnchanged,
  leafRole
}: Remains): RecoveryKind | null {
  if (hasPartial) return "continue";
  if (continuation) return leafRole === "assistant" ? "continue" : null;
  return isUnchanged || leafRole === "user" ? "retry" : null;
}

/** What happens to a detected turn once the author has been heard. */
export type Verdict =
  | { readonly action: "schedule"; readonly kind: RecoveryKind }
  | { readonly action: "disabled" }
  | { readonly action: "skip"; readonly reason: "not_recoverable" };

export function verdict(kind: RecoveryKind | null, wantsContinue: boolean): Verdict {
  if (!wantsContinue) return { action: "disabled" };
  return kind ? { action: "schedule", kind } : { action: "skip", reason: "not_recoverable" };
}

/** Whether the stored part of an answer is kept: settled work always is, and work that another agent goes on with (`isHandedOver`). */
export function keepsPartial(
  wantsPersist: boolean,
  parts: readonly { readonly type: string }[],
  isHandedOver: (toolCallId: string) => boolean = () => false
): boolean {
  const isAtWork = (part: object) =>
    "toolCallId" in part && typeof part.toolCallId === "string" && isHandedOver(part.toolCallId);
  return wantsPersist || parts.some((part) => isSettledTool(part) || isAtWork(part));
}

const SETTLED: ReadonlySet<unknown> = new Set(["output-available", "output-error", "output-denied"]);

function isSettledTool(part: { readonly type: string }): boolean {
  return "toolCallId" in part && "state" in part && SETTLED.has(part.state);
}
