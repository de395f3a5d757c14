/**
 * The reactive side of context-window overflow: a stream that failed because the conversation does not fit the model is run once more after
 * a compaction. Called by every turn that fails in its stream, whatever door it came through.
 *
 * I1. A turn that was cancelled is never compacted for.
 * I2. `maxRetries` bounds the compactions of one turn; a compaction that shortened nothing ends them.
 */
import type { Emit } from "../observability/events";
import { errorText } from "../shared/errors/error-text";
import type { ChatErrorClassification } from "../turn/failures";
import type { Turn } from "../turn/turn";
import type { Rescue } from "../turn/turn-parts";

/** What to do about a conversation that outgrows the model's context window. Off unless set. */
export interface ContextOverflowConfig {
  /** Whether a turn that failed because of it is compacted and run again. Needs `classifyChatError`. Default: false. */
  readonly reactive?: boolean;
  /** Compactions after failures, per turn. Default: 1. */
  readonly maxRetries?: number;
  /** Compacts in mid-turn, before a step that would come near the limit. Default: off. */
  readonly proactive?: {
    /** The model's context window, in tokens. */
    readonly maxInputTokens: number;
    /** The share of it that may be used. Default: 0.9. */
    readonly headroom?: number;
    /** Compactions in one turn. Default: 1; at least 1. */
    readonly maxCompactions?: number;
  };
}

/** Shortens the stored history. Null: there was nothing to do. */
export type Compact = (reason: "reactive" | "proactive") => Promise<{ readonly shortened: boolean } | null>;

export type ClassifyChatError = (
  error: unknown,
  context: { readonly stage: "stream"; readonly requestId: string }
) => ChatErrorClassification | void;

export interface OverflowParts {
  readonly setting: () => ContextOverflowConfig | undefined;
  /** Undefined when the author has not overridden it. */
  readonly classify: () => ClassifyChatError | undefined;
  readonly compact: Compact;
  readonly emit: Emit;
}

export class ContextOverflow {
  readonly #parts: OverflowParts;
  #hasWarned = false;

  constructor(parts: OverflowParts) {
    this.#parts = parts;
  }

  async failed(turn: Turn, cause: unknown, attempt: number): Promise<Rescue> {
    const setting = this.#parts.setting();
    if (!setting?.reactive || this.#classify(turn, cause) !== "context_overflow") return { action: "fail" };
    const failed: Rescue = { action: "fail", classification: "context_overflow" };
    if (turn.signal.aborted || attempt >= (setting.maxRetries ?? 1)) return failed;
    const isShorter = await this.#compact(turn, attempt);
    return isShorter && !turn.signal.aborted ? { action: "retry" } : failed;
  }

  async #compact({ requestId }: Turn, attempt: number): Promise<boolean> {
    const { compact, emit } = this.#parts;
    try {
      const shortened = (await compact("reactive"))?.shortened ?? false;
      emit("chat:context:compacted", { reason: "reactive", shortened, requestId, attempt: attempt + 1 });
      return shortened;
    } catch (error) {
      console.warn(`[Think] The compaction after a context overflow failed: ${errorText(error)}`);
      return false;
    }
  }

  #classify({ requestId }: Turn, cause: unknown): ChatErrorClassification | void {
    const classify = this.#parts.classify();
    if (!classify) return this.#warnOnce();
    try {
      return classify(cause, { stage: "stream", requestId });
    } catch (error) {
      console.warn(`[Think] classifyChatError failed, the error counts as no overflow: ${errorText(error)}`);
    }
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    console.warn(
      "[Think] contextOverflow.reactive is on, but classifyChatError is not overridden: no error is taken for an overflow. Set classifyChatError = defaultContextOverflowClassifier."
    );
  }
}

const PHRASES: readonly RegExp[] = [
  /prompt is too long/i,
  /context[ _]length[ _]exceeded/i,
  /maximum context length/i,
  /exceeds the maximum number of tokens/i,
  /input token count/i,
  /reduce the length of/i,
  /input is too long/i,
  /too many (input )?tokens/i,
  /context window/i
];

/** Recognises what the common providers say when a conversation does not fit. Assign it to `classifyChatError`, or call it from there. */
export function defaultContextOverflowClassifier(error: unknown): "context_overflow" | undefined {
  if (error === undefined || error === null) return undefined;
  const text = errorText(error);
  return PHRASES.some((phrase) => phrase.test(text)) ? "context_overflow" : undefined;
}
