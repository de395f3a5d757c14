/**
 * One registered block: its provider, what was last read from it, and the order of its writes. Used by the registry only.
 *
 * Invariants: one read at a time; writes run one after the other (the SDK runs the tool calls of a step at once, and an append is a
 * read and a write); a read that began before a write never replaces what was written.
 */
import type { Clock } from "../../shared/clock";
import { errorText } from "../../shared/errors/error-text";
import { ThinkError } from "../../shared/errors/think-error";
import { inTime } from "../../shared/in-time";
import { CONTEXT_LIMITS } from "../../shared/limits";
import type { ContextBlock, ContextConfig } from "./block";
import {
  canSet,
  isSearchProvider,
  isSkillProvider,
  type AnyContextProvider,
  type Awaitable
} from "./provider";

export interface BlockEntryOptions {
  readonly label: string;
  readonly config: ContextConfig;
  readonly provider: AnyContextProvider;
  readonly countTokens: (text: string) => number;
  /** Bounds the time of provider calls; without it they may take as long as they like. */
  readonly clock?: Clock | undefined;
}

export class BlockEntry {
  readonly label: string;
  readonly provider: AnyContextProvider;
  readonly #options: BlockEntryOptions;
  #content: string | undefined;
  #tokens = 0;
  #current = false;
  #ready: Promise<void> | undefined;
  #version = 0;
  #warned = false;
  #reading: Promise<void> | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: BlockEntryOptions) {
    this.#options = options;
    this.label = options.label;
    this.provider = options.provider;
  }

  /** Whether the session stores it, because its author gave no provider. */
  get isDurable(): boolean {
    return this.#options.config.provider === undefined;
  }

  /** Whether the last read succeeded. */
  get isCurrent(): boolean {
    return this.#current;
  }

  /** Whether any content was ever read; without it the prompt shows the block empty. */
  get isKnown(): boolean {
    return this.#content !== undefined;
  }

  get block(): ContextBlock {
    const { description, maxTokens } = this.#options.config;
    return {
      label: this.label,
      ...(description === undefined ? {} : { description }),
      content: this.#content ?? "",
      tokens: this.#tokens,
      ...(maxTokens === undefined ? {} : { maxTokens }),
      writable: canSet(this.provider),
      isSkill: isSkillProvider(this.provider),
      isSearchable: isSearchProvider(this.provider)
    };
  }

  /** Reads the content; a failure is told once and leaves what was known. */
  load(): Promise<void> {
    this.#reading ??= this.#tryRead().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #tryRead(): Promise<void> {
    try {
      await this.read();
      this.#warned = false;
    } catch (error) {
      this.#current = false;
      if (!this.#warned) console.warn(`[Think] ${errorText(error)} The prompt goes on without it.`);
      this.#warned = true;
    }
  }

  /** Reads the content anew, also when a read is under way that may have begun before the latest change. */
  async reload(): Promise<void> {
    await this.#reading;
    await this.load();
  }

  /** Reads the content; throws when the provider fails. */
  async read(): Promise<void> {
    const version = this.#version;
    const content = await this.call("be read", async () => {
      const found: unknown = await this.provider.get();
      if (found !== null && found !== undefined && typeof found !== "string") {
        throw new TypeError(`get() must give text or null, not ${typeof found}.`);
      }
      return found ?? "";
    });
    if (version === this.#version) this.written(content);
  }

  /** What the block holds from now on. */
  written(content: string): void {
    this.#version += 1;
    if (content !== this.#content) this.#tokens = this.#options.countTokens(content);
    this.#content = content;
    this.#current = true;
  }

  tokensOf(content: string): number {
    return this.#options.countTokens(content);
  }

  /** Runs `work` when all earlier writes of this block are done. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#writing.then(work);
    this.#writing = result.catch(() => undefined);
    return result;
  }

  /** Tells the provider its label, once; a failure is tried again with the next call. */
  async #init(): Promise<void> {
    this.#ready ??= Promise.resolve().then(() => this.provider.init?.(this.label));
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** Calls the provider within its time; a failure names the block. */
  async call<Result>(doing: string, work: () => Awaitable<Result>): Promise<Result> {
    try {
      const answer = this.#init().then(work);
      const { clock } = this.#options;
      return await (clock ? inTime(clock, answer, { ms: CONTEXT_LIMITS.providerMs, late }) : answer);
    } catch (error) {
      throw new ThinkError(`Context block "${this.label}" could not ${doing}: ${errorText(error)}`, {
        code: "context-provider-failed",
        retryable: true,
        cause: error
      });
    }
  }
}

const late = () => new Error(`its provider did not answer within ${CONTEXT_LIMITS.providerMs} ms.`);
