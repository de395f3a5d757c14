/**
 * Calls the author's `onChatResponse` for each ended turn: one call at a time, none lost, none nested.
 *
 * The turn has given up its place in the queue by then, so the hook may run further turns and await them. A turn that ends while a
 * hook runs cannot wait for its own hook (the running one may be waiting for that very turn): its result is kept, and the
 * call that is draining delivers it next.
 */
import { errorText } from "../shared/errors/error-text";

export class ResponseHooks<Result> {
  readonly #hook: (result: Result) => void | Promise<void>;
  readonly #waiting: Result[] = [];
  #draining = false;

  constructor(hook: (result: Result) => void | Promise<void>) {
    this.#hook = hook;
  }

  async deliver(result: Result): Promise<void> {
    this.#waiting.push(result);
    if (this.#draining) return;
    this.#draining = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
        await this.#call(next);
    } finally {
      this.#draining = false;
    }
  }

  /** The turn is over and stored; a failing hook must not undo that. */
  async #call(result: Result): Promise<void> {
    try {
      await this.#hook(result);
    } catch (error) {
      console.error(`[Think] onChatResponse failed: ${errorText(error)}`, error);
    }
  }
}
