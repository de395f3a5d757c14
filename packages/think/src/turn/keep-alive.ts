/**
 * Keeps the object from being evicted while a turn runs. Short turns end before an eviction could threaten them, and an alarm write is money:
 * only a long one arms the heartbeat.
 */
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";

export interface KeptAlive {
  /** Arms the heartbeat now. */
  hold(): void;
  release(): void;
}

/** Arms the heartbeat after so many milliseconds, unless it is released before. */
export function keepAliveAfter(ms: number, clock: Clock, keepAlive: () => Promise<() => void>): KeptAlive {
  let dispose: Promise<() => void> | undefined;
  const hold = () => {
    dispose ??= keepAlive().catch((error: unknown) => {
      console.error(`[Think] A long turn goes on without keep-alive: ${errorText(error)}`, error);
      return () => undefined;
    });
  };
  if (ms <= 0) hold();
  const timer = clock.setTimer(hold, ms);
  return {
    hold,
    release() {
      timer.cancel();
      void dispose?.then((stop) => stop());
    }
  };
}
