/**
 * The public shapes of compaction: what an author gives to `onCompaction` and `compactAfter`, and what comes back.
 */
import type { UIMessage } from "ai";

/** A context block as a token counter sees it. */
export interface CountedBlock {
  readonly label: string;
  readonly content: string;
  /** Tokens of the content by heuristic. */
  readonly tokens: number;
}

export interface TokenCounterInput<Block extends CountedBlock = CountedBlock> {
  readonly messages: readonly UIMessage[];
  /** The frozen system prompt; empty when only messages are counted. */
  readonly systemPrompt: string;
  readonly contextBlocks: readonly Block[];
}

/** Counts tokens, for instance with the model's own tokeniser. Not-a-number and negative count as 0; fractions are rounded up. */
export type TokenCounter = (input: TokenCounterInput) => number | Promise<number>;

/** A range of messages, both ends included, and the text that stands for it from now on. */
export interface CompactResult {
  readonly fromMessageId: string;
  readonly toMessageId: string;
  readonly summary: string;
}

export interface CompactContext {
  /** The session's own counter, when it has one. */
  readonly tokenCounter?: TokenCounter;
}

/** Decides what to replace and by what; null when there is nothing to do. */
export type CompactFunction = (
  messages: UIMessage[],
  context: CompactContext
) => CompactResult | null | Promise<CompactResult | null>;

/** Who asked for a compaction: code, the threshold, an overflow that happened or one that is near. */
export type CompactionReason = "manual" | "auto" | "reactive" | "proactive";

/** What one attempt did. */
export interface CompactionReport {
  /** Null when nothing was replaced. */
  readonly compactionId: string | null;
  readonly reason: CompactionReason;
  /** Messages the model sees, a summary counted as one. */
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** How many of them the new summary stands for. */
  readonly replaced: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Whether the model sees fewer messages or fewer tokens now. */
  readonly shortened: boolean;
}
