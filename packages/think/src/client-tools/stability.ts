/**
 * Waiting until a conversation has come to rest: no turn runs or waits, nothing is about to continue, and nobody is being asked.
 */
import type { Clock } from "../shared/clock";

export interface StabilityHost {
  readonly clock: Clock;
  /** Whether the conversation is at rest now. */
  readonly isStable: () => boolean;
  /** Resolves when no turn runs or waits. */
  readonly whenIdle: () => Promise<void>;
}

export class Stability {
  readonly #host: StabilityHost;
  readonly #waiting = new Set<() => void>();

  constructor(host: StabilityHost) {
    this.#host = host;
  }

  /** Something happened that may have brought rest. */
  changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** True once the conversation is at rest; false when `timeout` (in ms; default: none) passes first. */
  async wait(timeout?: number): Promise<boolean> {
    let expired = false;
    const timer =
      timeout === undefined
        ? undefined
        : this.#host.clock.setTimer(() => {
            expired = true;
            this.changed();
          }, timeout);
    try {
      while (!this.#host.isStable()) {
        if (expired) return false;
        await this.#nextChange();
      }
      return true;
    } finally {
      timer?.cancel();
    }
  }

  /** The queue has no event for its last item leaving; its promise tells. */
  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      void this.#host.whenIdle().then(() => this.#host.isStable() && wake());
    });
  }
}
