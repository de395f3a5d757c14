/**
 * The system prompt of a session, which stays the same byte for byte until someone refreshes it: in memory, and in a store across
 * restarts when there is one.
 *
 * Invariant: a prompt in which a block is missing because its provider failed is used but never kept, so that the next turn tries
 * again. A store that fails is told and done without.
 */
import { errorText } from "../../shared/errors/error-text";
import type { Awaitable } from "./provider";

/** Keeps the prompt across restarts. The empty text is a prompt, null is none. */
export interface PromptStore {
  get(): Awaitable<string | null>;
  set(text: string): Awaitable<void>;
}

export interface Rendering {
  readonly text: string;
  /** Whether every block is in it as it should be. */
  readonly complete: boolean;
}

export interface FrozenPromptOptions {
  readonly store: PromptStore | undefined;
  /** Loads what is not loaded, and renders. */
  readonly render: () => Promise<Rendering>;
  /** Loads everything anew, and renders. */
  readonly renderAnew: () => Promise<Rendering>;
}

export class FrozenPrompt {
  readonly #options: FrozenPromptOptions;
  #snapshot: string | undefined;
  /** The store holds a prompt from before a refresh that could not be completed or stored. */
  #outdated = false;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: FrozenPromptOptions) {
    this.#options = options;
  }

  freeze(): Promise<string> {
    return this.#inTurn(async () => {
      const known = this.#outdated ? this.#snapshot : await this.#known();
      return known ?? this.#keep(await this.#options.render());
    });
  }

  refresh(): Promise<string> {
    return this.#inTurn(async () => {
      this.#outdated = true;
      this.#snapshot = undefined;
      return this.#keep(await this.#options.renderAnew());
    });
  }

  /** The prompt as it is or would be; keeps nothing. */
  async peek(): Promise<string> {
    if (this.#snapshot !== undefined) return this.#snapshot;
    const known = this.#outdated ? undefined : await this.#stored();
    return known ?? (await this.#options.render()).text;
  }

  /** The store comes first: another session object over the same store may have refreshed it. */
  async #known(): Promise<string | undefined> {
    const stored = await this.#stored();
    if (stored !== undefined) this.#snapshot = stored;
    return stored ?? this.#snapshot;
  }

  async #stored(): Promise<string | undefined> {
    try {
      return (await this.#options.store?.get()) ?? undefined;
    } catch (error) {
      console.warn(`[Think] The stored system prompt could not be read: ${errorText(error)}`);
      return undefined;
    }
  }

  async #keep({ text, complete }: Rendering): Promise<string> {
    if (!complete) return text;
    this.#snapshot = text;
    try {
      await this.#options.store?.set(text);
      this.#outdated = false;
    } catch (error) {
      console.warn(`[Think] The system prompt could not be stored: ${errorText(error)}`);
    }
    return text;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }
}
