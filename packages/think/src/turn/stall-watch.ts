/**
 * The watchdog of a model's stream: fires once when nothing was heard for too long. One timer that looks at the time of the last chunk, not a
 * timer per chunk: a stream has thousands of them.
 */
import type { Clock, TimerHandle } from "../shared/clock";

export interface StallWatch {
  readonly hasStalled: boolean;
  /** A chunk came. */
  heard(): void;
  /** Stops watching. */
  close(): void;
}

export function watchStall(clock: Clock, timeoutMs: number, stalled: () => void): StallWatch {
  let heardAt = clock.now();
  let hasStalled = false;
  let timer: TimerHandle;
  const look = () => {
    const left = heardAt + timeoutMs - clock.now();
    if (left > 0) {
      timer = clock.setTimer(look, left);
      return;
    }
    hasStalled = true;
    stalled();
  };
  timer = clock.setTimer(look, timeoutMs);
  return {
    get hasStalled() {
      return hasStalled;
    },
    heard() {
      heardAt = clock.now();
    },
    close: () => timer.cancel()
  };
}
