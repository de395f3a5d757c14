/**
 * Waiting for a condition by looking at it. Slower than a promise, but safe where the condition becomes true
 * in another I/O context; see `gate.ts`.
 */

export interface PollOptions {
  /** Milliseconds to wait at most. */
  readonly timeout: number;
  /** The message of the error when the time is over. */
  readonly failure: string;
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves soon after `condition` becomes true. */
export async function poll(
  condition: () => boolean,
  { timeout, failure, signal }: PollOptions
): Promise<void> {
  const end = performance.now() + timeout;
  while (!condition()) {
    signal?.throwIfAborted();
    if (performance.now() > end) throw new Error(failure);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
