/**
 * `chatRecovery`: what an author may set, and what it means when fields are missing or wrong. Asked anew for every decision.
 */
import { RECOVERY_LIMITS } from "../shared/limits";
import type { RecoveryKind } from "./incident";

/** Settings of chat recovery. Every field is optional. */
export interface ChatRecoveryConfig {
  /** Attempts without progress before the turn is given up. Default: 10; at least 1. */
  readonly maxAttempts?: number;
  /** What clients are told when a turn is given up. */
  readonly terminalMessage?: string;
  /** A turn was given up. What it throws is logged. */
  readonly onExhausted?: (context: ChatRecoveryExhaustedContext) => void | Promise<void>;
  /** How long a recovered turn waits for the conversation to come to rest, in ms. Default: 10 000. */
  readonly stableTimeoutMs?: number;
  /** How long a turn may be recovered without durable progress, in ms. Default: 300 000. */
  readonly noProgressTimeoutMs?: number;
  /** Durable writes of streamed work while one turn is being recovered. Default: 1000. */
  readonly maxRecoveryWork?: number;
  /** Asked before each further attempt; `false` gives the turn up. A throw means: go on. */
  readonly shouldKeepRecovering?: (context: ChatRecoveryProgressContext) => boolean | Promise<boolean>;
}

/** The settings with every default filled in. */
export interface ResolvedChatRecoveryConfig {
  readonly maxAttempts: number;
  readonly terminalMessage: string;
  readonly stableTimeoutMs: number;
  readonly noProgressTimeoutMs: number;
  readonly maxRecoveryWork: number;
  readonly onExhausted?: ChatRecoveryConfig["onExhausted"];
  readonly shouldKeepRecovering?: ChatRecoveryConfig["shouldKeepRecovering"];
}

/** What `shouldKeepRecovering` is asked about. */
export interface ChatRecoveryProgressContext {
  readonly incidentId: string;
  readonly requestId: string;
  readonly recoveryRootRequestId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly recoveryKind: RecoveryKind;
  /** Durable writes of streamed work since the turn was first interrupted. */
  readonly work: number;
  /** Time since the turn was first interrupted, in ms. */
  readonly ageMs: number;
}

/** What `onExhausted` is told. */
export interface ChatRecoveryExhaustedContext {
  readonly incidentId: string;
  readonly requestId: string;
  readonly recoveryRootRequestId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly recoveryKind: RecoveryKind;
  /** Empty when the turn had no stream. */
  readonly streamId: string;
  /** When the interrupted turn began, in ms. */
  readonly createdAt: number;
  readonly partialText: string;
  readonly partialParts: readonly unknown[];
  /** Such as `max_attempts_exceeded`, `no_progress_timeout`, `work_budget_exceeded`, `recovery_aborted`, `stable_timeout`, `recovery_error`. */
  readonly reason: string;
  readonly terminalMessage: string;
}

const TERMINAL_MESSAGE = "The answer was interrupted and could not be recovered. Please try again.";

/** The settings in force, or null when recovery is off. */
export function resolveRecovery(setting: boolean | ChatRecoveryConfig): ResolvedChatRecoveryConfig | null {
  if (setting === false) return null;
  const config: ChatRecoveryConfig = setting === true ? {} : setting;
  return {
    maxAttempts: whole(config.maxAttempts, RECOVERY_LIMITS.maxAttempts, 1),
    terminalMessage: config.terminalMessage ?? TERMINAL_MESSAGE,
    stableTimeoutMs: whole(config.stableTimeoutMs, RECOVERY_LIMITS.stableTimeoutMs, 0),
    noProgressTimeoutMs: whole(config.noProgressTimeoutMs, RECOVERY_LIMITS.noProgressMs, 0),
    maxRecoveryWork: workLimit(config.maxRecoveryWork),
    // Called on the settings object, as an author who wrote methods there expects.
    ...(config.onExhausted ? { onExhausted: (context) => config.onExhausted?.(context) } : {}),
    ...(config.shouldKeepRecovering
      ? { shouldKeepRecovering: (context) => config.shouldKeepRecovering?.(context) ?? true }
      : {})
  };
}

function whole(value: number | undefined, fallback: number, least: number): number {
  if (typeof value !== "number" || Number.isNaN(value)) return fallback;
  return Math.max(least, Math.floor(value));
}

function workLimit(value: number | undefined): number {
  return typeof value === "number" && value >= 0 ? value : RECOVERY_LIMITS.maxWork;
}
