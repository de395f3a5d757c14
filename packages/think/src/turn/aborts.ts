/**
 * One abort controller per running or waiting request, so that a cancel by id reaches it from anywhere.
 *
 * I1. After a request is over (`remove`), nothing of it is left: no controller, no listener on a caller's signal.
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

  /** Lets a caller's signal cancel the request. Returns the function that ends the link; call it when the request is over. */
  link(requestId: string, signal: AbortSignal | undefined): () => void {
    if (!signal) return () => undefined;
    const cancel = () => this.cancel(requestId);
    if (signal.aborted) {
      this.signal(requestId);
      cancel();
      return () => undefined;
    }
    signal.addEventListener("abort", cancel, { once: true });
    return () => signal.removeEventListener("abort", cancel);
  }

  /** Cancels a request; an unknown id is no error, because its turn may just have ended. */
  cancel(requestId: string): void {
    // No reason: the AI SDK's version 6 would throw it into the stream instead of ending it.
    this.#controllers.get(requestId)?.abort();
  }

  remove(requestId: string): void {
    this.#controllers.delete(requestId);
  }

  cancelAll(): void {
    for (const controller of this.#controllers.values()) controller.abort();
    this.#controllers.clear();
  }
}
