/**
 * Compacts one session: asks the author's function what to replace, stores the overlay, tells clients and reports. The session calls it
 * on demand and after each append; turns call it when the context window overflows.
 *
 * I1. At most one compaction runs; who asks meanwhile gets its outcome. An append meanwhile does not wait for it, because the function
 *     itself may append.
 * I2. A failing function, counter or prompt fails no append and no turn: it becomes an error frame and a null.
 * I3. After a `compacting` frame an `idle` frame always follows.
 * I4. Nothing is stored unless the range fits the history at the moment of storing.
 */
import type { UIMessage } from "ai";
import type { SessionErrorFrame, SessionStatusFrame } from "../../protocol/frames";
import { sessionErrorFrame, sessionStatusFrame } from "../../protocol/session-frames";
import type { Clock, Ids } from "../../shared/clock";
import { errorText } from "../../shared/errors/error-text";
import { ThinkError } from "../../shared/errors/think-error";
import { inTime } from "../../shared/in-time";
import { COMPACTION_LIMITS } from "../../shared/limits";
import { COMPACTION_PREFIX } from "./boundaries";
import type { CompactFunction, CompactionReason, CompactionReport, CompactResult } from "./compact-types";
import type { CompactionStore } from "./compaction-store";
import { TokenEstimate, type EstimateSource } from "./estimate";
import { resolveRange } from "./resolve-range";

export interface CompactorOptions extends EstimateSource {
  readonly sessionId: string;
  readonly store: CompactionStore;
  readonly ids: Ids;
  readonly clock: Clock;
  /** The current path with overlays applied. */
  history(): readonly UIMessage[];
  compactFunction(): CompactFunction | undefined;
  /** Tokens above which an append compacts. Undefined: never. */
  threshold(): number | undefined;
  /** Renders and stores the system prompt anew: the prefix cache is lost anyway. */
  refreshPrompt(): Promise<void>;
  /** Overlays have changed; what was read of the history is out of date. */
  changed(): void;
  /** Sends a frame to the clients. */
  status(frame: SessionStatusFrame | SessionErrorFrame): void;
  report(report: CompactionReport): void;
  /** The author's error handler. Default: a warning. */
  onError?(): ((error: unknown) => void) | undefined;
  /** Whether anybody receives frames; if not, none are made after plain writes. Default: true. */
  watched?(): boolean;
}

export interface CompactionOutcome {
  /** The stored range and its summary; null when nothing was replaced. */
  readonly result: CompactResult | null;
  readonly report: CompactionReport;
}

interface Attempt extends CompactionOutcome {
  readonly failed: boolean;
}

export class Compactor {
  readonly #options: CompactorOptions;
  readonly #estimate: TokenEstimate;
  #running: Promise<Attempt> | undefined;
  /** The last count, for frames after a failure. */
  #lastEstimate = 0;
  #warned = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#estimate = new TokenEstimate(options);
  }

  /** Compacts now. Null when there was nothing to do or it failed; rejects only when no function is registered. */
  async compact(): Promise<CompactResult | null> {
    return (await this.attempt("manual")).result;
  }

  /** Like `compact`, for callers that need to know how much it helped. */
  async attempt(reason: CompactionReason): Promise<CompactionOutcome> {
    return this.#attempt(this.#requireFunction(), reason);
  }

  /** After a real append: compacts when the threshold is passed. Never rejects. */
  async afterAppend(): Promise<CompactResult | null> {
    const compactFunction = this.#options.compactFunction();
    const threshold = this.#options.threshold();
    if (this.#running !== undefined) return null;
    if (compactFunction === undefined || threshold === undefined) {
      await this.announce();
      return null;
    }
    const estimate = await this.#count();
    if (estimate === undefined || !(estimate > threshold)) {
      if (estimate !== undefined) this.#idle(estimate);
      return null;
    }
    const { result, failed } = await this.#attempt(compactFunction, "auto", estimate);
    if (result === null && !failed) this.#warnOfNoEffect(estimate, threshold);
    return result;
  }

  /** After any other write: tells clients how full the session is. Never rejects. */
  async announce(): Promise<void> {
    if (this.#running !== undefined || this.#options.watched?.() === false) return;
    const estimate = await this.#count();
    if (estimate !== undefined) this.#idle(estimate);
  }

  /** Tokens of messages and system prompt. Stores no prompt; rejects when the author's counter does. */
  async estimate(): Promise<number> {
    this.#lastEstimate = await this.#estimate.of(this.#options.history());
    return this.#lastEstimate;
  }

  /** Deletes an overlay (by its id or that of its summary), so that the messages show again. False when there is none. */
  async undo(id: string): Promise<boolean> {
    const { store, sessionId, changed } = this.#options;
    const bare = id.startsWith(COMPACTION_PREFIX) ? id.slice(COMPACTION_PREFIX.length) : id;
    if (!store.remove(sessionId, bare)) return false;
    changed.call(this.#options);
    await this.announce();
    return true;
  }

  #requireFunction(): CompactFunction {
    const compactFunction = this.#options.compactFunction();
    if (compactFunction !== undefined) return compactFunction;
    throw new ThinkError(
      "No compaction function is registered for this session. Call session.onCompaction(createCompactFunction({ summarize })) in configureSession().",
      { code: "compaction-missing" }
    );
  }

  #attempt(compactFunction: CompactFunction, reason: CompactionReason, estimate?: number): Promise<Attempt> {
    // The function must not run before `#running` is set: an append of its own would start a second attempt.
    this.#running ??= Promise.resolve()
      .then(() => this.#run(compactFunction, reason, estimate))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #run(
    compactFunction: CompactFunction,
    reason: CompactionReason,
    estimate?: number
  ): Promise<Attempt> {
    let tokensBefore = estimate;
    let messages = 0;
    let attempt: Attempt | undefined;
    try {
      messages = this.#options.history().length;
      tokensBefore ??= await this.estimate();
      this.#status("compacting", tokensBefore);
      attempt = await this.#replace(compactFunction, reason, tokensBefore);
    } catch (error) {
      this.#failed(error);
    }
    attempt ??= { ...unchanged(reason, messages, tokensBefore ?? this.#lastEstimate), failed: true };
    this.#status("idle", this.#lastEstimate, attempt.result === null ? undefined : tokensBefore);
    this.#tell(attempt.report);
    return attempt;
  }

  async #replace(
    compactFunction: CompactFunction,
    reason: CompactionReason,
    tokensBefore: number
  ): Promise<Attempt> {
    const { store, sessionId, ids, clock } = this.#options;
    const tokenCounter = this.#options.tokenCounter();
    const context = tokenCounter === undefined ? {} : { tokenCounter };
    const proposed = await this.#inTime(compactFunction([...this.#options.history()], context));
    const history = this.#options.history();
    const range = resolveRange(proposed, history, store.list(sessionId));
    if (range === null) return { ...unchanged(reason, history.length, tokensBefore), failed: false };

    const { replaced, ...result } = range;
    const compactionId = ids.next();
    store.add(sessionId, { id: compactionId, createdAt: clock.now(), ...result });
    this.#options.changed();
    this.#warned = false;
    await this.#options.refreshPrompt().catch((error: unknown) => this.#failed(error));
    const tokensAfter = (await this.#count()) ?? this.#lastEstimate;
    const messagesAfter = this.#options.history().length;
    const shortened = messagesAfter < history.length || tokensAfter < tokensBefore;
    const counts = { messagesBefore: history.length, messagesAfter, replaced, tokensBefore, tokensAfter };
    return { result, report: { compactionId, reason, ...counts, shortened }, failed: false };
  }

  /** A summary that never comes must not block every later compaction; one that comes too late is not used. */
  async #inTime<Value>(work: Value | Promise<Value>): Promise<Value> {
    const ms = COMPACTION_LIMITS.functionMs;
    const late = () =>
      new Error(`The compaction function took more than ${ms / 1000} s. Let summarize() give up earlier.`);
    return inTime(this.#options.clock, work, { ms, late });
  }

  /** The estimate, or undefined when counting failed, which is then told. */
  async #count(): Promise<number | undefined> {
    try {
      return await this.estimate();
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  #failed(error: unknown): void {
    this.#send(sessionErrorFrame(error));
    const handler = this.#options.onError?.();
    if (handler === undefined) {
      console.warn(`[Think] Compaction failed, the session goes on without: ${errorText(error)}`);
      return;
    }
    try {
      handler(error);
    } catch (handlerError) {
      console.warn(`[Think] onCompactionError failed: ${errorText(handlerError)}`);
    }
  }

  #warnOfNoEffect(estimate: number, threshold: number): void {
    if (this.#warned) return;
    this.#warned = true;
    console.warn(
      `[Think] The session has about ${estimate} tokens, more than compactAfter(${threshold}), but the compaction function found nothing to replace. Lower its tailTokenBudget or protectHead, or raise the threshold.`
    );
  }

  #idle(estimate: number): void {
    if (this.#running === undefined && this.#options.watched?.() !== false) this.#status("idle", estimate);
  }

  #status(phase: SessionStatusFrame["phase"], tokenEstimate: number, tokensBefore?: number): void {
    this.#send(
      sessionStatusFrame({ phase, tokenEstimate, tokenThreshold: this.#options.threshold(), tokensBefore })
    );
  }

  #send(frame: SessionStatusFrame | SessionErrorFrame): void {
    try {
      this.#options.status(frame);
    } catch (error) {
      console.warn(`[Think] A session frame could not be sent: ${errorText(error)}`);
    }
  }

  #tell(report: CompactionReport): void {
    try {
      this.#options.report(report);
    } catch (error) {
      console.warn(`[Think] A compaction report could not be delivered: ${errorText(error)}`);
    }
  }
}

function unchanged(reason: CompactionReason, messages: number, tokens: number): CompactionOutcome {
  const counts = { messagesBefore: messages, messagesAfter: messages, replaced: 0 };
  const tokenCounts = { tokensBefore: tokens, tokensAfter: tokens, shortened: false };
  return { result: null, report: { compactionId: null, reason, ...counts, ...tokenCounts } };
}
