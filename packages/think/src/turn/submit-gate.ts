/**
 * What happens to a message that arrives while an earlier one is still being answered. Pure bookkeeping: the caller stores messages and
 * runs turns.
 *
 * I1. The first submit of a burst always runs and is never superseded.
 * I2. Of the overlapping ones under `latest`, `merge` and `debounce`, only the newest runs a turn; all keep their messages.
 */
import type { Clock, TimerHandle } from "../shared/clock";
import { LIMITS } from "../shared/limits";

/**
 * How overlapping submits are treated. `queue`: each gets its turn. `latest`, `merge`: all messages are kept, the newest submit answers
 * them. `drop`: refused while busy. `debounce`: as `latest`, after a quiet period.
 */
export type MessageConcurrency =
  | "queue"
  | "latest"
  | "merge"
  | "drop"
  | { readonly strategy: "debounce"; /** Quiet period in ms. Default: 750. */ readonly debounceMs?: number };

export type Admission =
  | { readonly action: "drop" }
  /** `mayRun` is asked when the submit's place in the queue has come. */
  | { readonly action: "run"; readonly mayRun: () => boolean | Promise<boolean> };

const ALWAYS: Admission = { action: "run", mayRun: () => true };

export class SubmitGate {
  readonly #clock: Clock;
  #newest = 0;
  readonly #sleepers = new Set<{ readonly timer: TimerHandle; readonly wake: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  admit(policy: MessageConcurrency, busy: boolean): Admission {
    if (!busy || policy === "queue") return ALWAYS;
    if (policy === "drop") return { action: "drop" };
    const sequence = (this.#newest += 1);
    const isNewest = () => sequence === this.#newest;
    if (typeof policy === "string") return { action: "run", mayRun: isNewest };
    const until = this.#clock.now() + debounceMs(policy.debounceMs);
    const mayRun = async () => {
      if (isNewest()) await this.#sleep(until - this.#clock.now());
      return isNewest();
    };
    return { action: "run", mayRun };
  }

  /** The conversation was cleared: nobody waits any longer, and nothing before this counts. */
  reset(): void {
    this.#newest += 1;
    for (const { timer, wake } of this.#sleepers) {
      timer.cancel();
      wake();
    }
    this.#sleepers.clear();
  }

  #sleep(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = { timer: this.#clock.setTimer(() => finish(), ms), wake: () => resolve() };
      const finish = () => {
        this.#sleepers.delete(sleeper);
        resolve();
      };
      this.#sleepers.add(sleeper);
    });
  }
}

function debounceMs(ms: number | undefined): number {
  return ms !== undefined && Number.isFinite(ms) && ms >= 0 ? ms : LIMITS.debounceMs;
}
