/**
 * The runs that this isolate works on, and who watches runs. Nothing here outlives the isolate; after a run nothing of it is left.
 */

/** A run whose turn runs or waits in this isolate, or is being judged. */
export interface LiveRun {
  readonly runId: string;
  readonly requestId: string;
  /** The queue generation it began in; a clear starts a new one. */
  readonly generation: number;
  /** Stops it before its turn can be cancelled by request id. */
  readonly controller: AbortController;
  /** The message that asks for it, once there is one. */
  inputId?: string;
}

export class LiveRuns {
  readonly #runs = new Map<string, LiveRun>();
  readonly #watchers = new Map<string, Set<() => void>>();

  /** Runs and watched runs; 0 when everything is over. */
  get size(): number {
    return this.#runs.size + this.#watchers.size;
  }

  get(runId: string): LiveRun | undefined {
    return this.#runs.get(runId);
  }

  add(run: LiveRun): void {
    this.#runs.set(run.runId, run);
  }

  remove(runId: string): void {
    this.#runs.delete(runId);
  }

  watch(runId: string, news: () => void): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers.add(news));
    return () => {
      watchers.delete(news);
      if (watchers.size === 0 && this.#watchers.get(runId) === watchers) this.#watchers.delete(runId);
    };
  }

  /** A chunk came, or the run ended. */
  tell(runId: string): void {
    for (const news of this.#watchers.get(runId) ?? []) news();
  }
}
