/**
 * One abort controller per running or waiting request, so that a cancel by id reaches it from anywhere.
 */
export class AbortRegistry {
  readonly #controllers = new Map<string, AbortController>();

  get size(): number {
    return this.#controllers.size;
  }

  /** The signal of a request; created on first use. */
  signal(requestId: string): AbortSignal {
    const existing = this.#controllers.get(requestId);
    if (existing) return existing.signal;
    const controller = new AbortController();
    this.#controllers.set(requestId, controller);
    return controller.signal;
  }

  /** Cancels a request; an unknown id is no error, because its turn may just have ended. */
  cancel(requestId: string): void {
    // No reason: the AI SDK's version 6 would throw it into the stream instead of ending it.
    this.#controllers.get(requestId)?.abort();
  }

  /** The request is over; its controller is forgotten. */
  remove(requestId: string): void {
    this.#controllers.delete(requestId);
  }

  cancelAll(): void {
    for (const controller of this.#controllers.values()) controller.abort();
    this.#controllers.clear();
  }
}
