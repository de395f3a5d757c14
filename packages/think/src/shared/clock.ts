/**
 * Time and identity as values. Modules receive these instead of calling `Date.now()` or
 * `crypto.randomUUID()`, so that every test can be seeded and replayed.
 */

/** A timer that has not fired yet. */
export interface TimerHandle {
  /** Stops the timer; does nothing when it has already fired. */
  cancel(): void;
}

/** Wall-clock time in milliseconds, and timers on it. */
export interface Clock {
  now(): number;
  setTimer(callback: () => void, ms: number): TimerHandle;
}

/** A source of unique ids (UUIDs in production). */
export interface Ids {
  next(): string;
}
