/**
 * The numeric limits of recovery, with unit and reason.
 */
export const RECOVERY_LIMITS = {
  /** Attempts without progress before a turn is given up. */
  maxAttempts: 10,

  /** How long a recovered turn waits for the conversation to come to rest, in ms. */
  stableTimeoutMs: 10_000,

  /** How long a turn may be recovered without any durable progress, in ms. */
  noProgressMs: 300_000,

  /** Durable writes of streamed work while one turn is being recovered. Crashes that each produce a little must end some day. */
  maxWork: 1_000,

  /** Detections closer together than this are one attempt, in ms: a storm of reconnects is one interruption. */
  debounceMs: 30_000,

  /** An incident that nobody touched for this long is swept, in ms. */
  incidentAgeMs: 3_600_000,

  /** Delay before a recovered turn tries again to find the conversation at rest, in seconds. */
  rescheduleSeconds: 3,

  /** Delay before a failed detection is repeated without waiting for a visitor, in seconds. */
  redetectSeconds: 60,

  /** Longest time the author's `onChatRecovery` may take while the object starts, in ms: everything else waits for it. */
  hookMs: 10_000,

  /** A "recovering" flag older than this is treated as absent, in ms: no indicator spins for ever. */
  recoveringAgeMs: 900_000,

  /** A child's stream counts as progress of its parent at most this often, in ms. */
  childProgressMs: 5_000
} as const;
