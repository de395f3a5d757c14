/**
 * One abort controller per running or waiting turn, so that a cancel by request id reaches it from anywhere. Ids come from clients, and
 * one may be used twice: such turns are cancelled together, but each has a signal of its own.
 *
 * I1. After a turn is over (`close`), nothing of it is left: no controller, no listener on a caller's signal.
 */
export interface CancellableTurn {
  readonly signal: AbortSignal;
  /** Stops the turn from inside. */
  abort(): void;
  /** The turn is over. */
  close(): void;
}

interface OpenTurn {
  readonly requestId: string;
  readonly controller: AbortController;
}

export class AbortRegistry {
  readonly #open = new Set<OpenTurn>();

  get size(): number {
    return this.#open.size;
  }

  /** Makes a turn cancellable, by its request id and by the caller's signal if there is one. */
  open(requestId: string, outside: AbortSignal | undefined): CancellableTurn {
    const turn = { requestId, controller: new AbortController() };
    // No reason: the AI SDK's version 6 would throw it into the stream instead of ending it.
    const cancel = () => turn.controller.abort();
    this.#open.add(turn);
    if (outside?.aborted) cancel();
    else outside?.addEventListener("abort", cancel, { once: true });
    return {
      signal: turn.controller.signal,
      abort: cancel,
      close: () => {
        this.#open.delete(turn);
        outside?.removeEventListener("abort", cancel);
      }
    };
  }

  /** Cancels a request; an unknown id is no error, because its turn may just have ended. */
  cancel(requestId: string): void {
    for (const turn of this.#open) if (turn.requestId === requestId) turn.controller.abort();
  }

  cancelAll(): void {
    for (const { controller } of this.#open) controller.abort();
  }
}

/**
 * The work's value, or undefined when the signal fires first: a hook, a caller or an output that ignores the signal must not hold the
 * turn. What becomes of the work then is nobody's concern, its failure included.
 */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    // One listener per wait, removed at its end: a long turn must not collect them on its signal.
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
