/**
 * Turns run one at a time, in order of arrival, whatever door they came through.
 *
 * I1. At most one work item runs at any time.
 * I2. An item belongs to the generation it was queued in. After `reset()` items of older generations are not started.
 * I3. A failing item rejects its own caller and nobody else.
 */
export type QueueResult<Value> =
  | { readonly status: "ran"; readonly value: Value }
  | { readonly status: "stale" };

export class TurnQueue {
  #tail: Promise<unknown> = Promise.resolve();
  #generation = 0;
  #size = 0;

  get generation(): number {
    return this.#generation;
  }

  /** Items of the current generation that run or wait. */
  get size(): number {
    return this.#size;
  }

  enqueue<Value>(work: () => Promise<Value>, generation = this.#generation): Promise<QueueResult<Value>> {
    if (generation === this.#generation) this.#size += 1;
    const run = this.#tail.then(async (): Promise<QueueResult<Value>> => {
      if (generation !== this.#generation) return { status: "stale" };
      return { status: "ran", value: await work() };
    });
    const settled = run.finally(() => {
      if (generation === this.#generation) this.#size -= 1;
    });
    this.#tail = settled.catch(() => undefined);
    return settled;
  }

  /** Starts a new generation: what waits becomes stale. What runs is not stopped by this. */
  reset(): void {
    this.#generation += 1;
    this.#size = 0;
  }

  /** Resolves when nothing runs or waits, whatever is added meanwhile. */
  async idle(): Promise<void> {
    let seen: Promise<unknown> | undefined;
    while (seen !== this.#tail) {
      seen = this.#tail;
      await seen;
    }
  }
}
