/**
 * How many tokens a session has, by the author's counter or by heuristic. Called by the compactor before and after each compaction and,
 * with a threshold, after each append.
 */
import type { UIMessage } from "ai";
import type { CountedBlock, TokenCounter } from "./compact-types";
import { estimateMessageTokens, estimateStringTokens } from "./tokens";

export interface EstimateSource {
  /** The author's counter. Default: heuristic. */
  tokenCounter(): TokenCounter | undefined;
  /** The system prompt as the next turn would use it. Must not store one. */
  systemPrompt(): Promise<string>;
  contextBlocks(): Promise<readonly CountedBlock[]>;
}

export class TokenEstimate {
  readonly #source: EstimateSource;
  /** Appending to a long history must not walk all of its text again. A message that changes is a new object. */
  readonly #known = new WeakMap<UIMessage, number>();

  constructor(source: EstimateSource) {
    this.#source = source;
  }

  async of(messages: readonly UIMessage[]): Promise<number> {
    const counter = this.#source.tokenCounter();
    if (counter === undefined) {
      const prompt = estimateStringTokens(await this.#source.systemPrompt());
      return messages.reduce((sum, message) => sum + this.#tokens(message), prompt);
    }
    const contextBlocks = await this.#source.contextBlocks();
    const systemPrompt = await this.#source.systemPrompt();
    return normalizeCount(await counter({ messages, systemPrompt, contextBlocks }));
  }

  #tokens(message: UIMessage): number {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const tokens = estimateMessageTokens(message);
    this.#known.set(message, tokens);
    return tokens;
  }
}

/** Counters are foreign code: what is no count is 0, fractions are rounded up. */
export function normalizeCount(count: unknown): number {
  return typeof count === "number" && Number.isFinite(count) ? Math.max(0, Math.ceil(count)) : 0;
}
