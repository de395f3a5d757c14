/**
 * The thoughts of a model, per session. The `think` tool appends to it; applications read it. Thoughts never reach a console: they may
 * repeat what users said in confidence.
 *
 * Invariants
 * 1. Sessions never see each other.
 * 2. A session keeps at most `maxThoughts` thoughts; the oldest goes first. Step numbers go on counting.
 * 3. What is stored is the thought as given, without NUL, with LF line ends, and well-formed.
 */
import { ThinkError } from "../shared/errors/think-error";
import { THINK_TOOL_LIMITS } from "../shared/limits";
import { SqlThoughts, type ThoughtStorage } from "./sql-thoughts";
import { ThoughtError } from "./thought-error";
import { MemoryThoughts, type ThoughtEntry, type ThoughtMetadata, type ThoughtStore } from "./thought-store";

const limits = THINK_TOOL_LIMITS;

export interface ThoughtLogOptions {
  /** Thoughts kept per session, 1 to 1,000. Default: 100. */
  readonly maxThoughts?: number;
  /** Characters of one thought, 100 to 100,000. Default: 10,000. */
  readonly maxThoughtLength?: number;
  /** A Durable Object's storage (`ctx.storage`). Default: none, the memory of the isolate. */
  readonly storage?: ThoughtStorage;
  /** The clock. Default: the platform's. */
  readonly now?: () => Date;
}

/** Everything about a session. */
export interface ThoughtContext {
  readonly sessionId: string;
  /** Oldest first; a copy. */
  readonly thoughts: ThoughtEntry[];
  readonly metadata: ThoughtMetadata;
}

export interface ThoughtSummary extends ThoughtMetadata {
  readonly sessionId: string;
}

/** A thought as it was stored. */
export interface RecordedThought {
  readonly step: number;
  readonly thought: string;
  /** Thoughts that the session holds now. */
  readonly contextSize: number;
}

export class ThoughtLog {
  readonly #store: ThoughtStore;
  readonly #maxThoughts: number;
  readonly #maxLength: number;
  readonly #now: () => Date;

  constructor(options: ThoughtLogOptions = {}) {
    this.#maxThoughts = within(
      "maxThoughts",
      options.maxThoughts ?? limits.thoughts,
      limits.thoughtsMin,
      limits.thoughtsMax
    );
    this.#maxLength = within(
      "maxThoughtLength",
      options.maxThoughtLength ?? limits.thoughtChars,
      limits.thoughtCharsMin,
      limits.thoughtCharsMax
    );
    this.#store = options.storage === undefined ? new MemoryThoughts() : new SqlThoughts(options.storage);
    this.#now = options.now ?? (() => new Date());
  }

  /** The session with its thoughts; made when it is new. */
  async getContext(sessionId: string): Promise<ThoughtContext> {
    const metadata = this.#store.open(checked(sessionId), this.#time());
    return { sessionId, thoughts: this.#store.list(sessionId), metadata };
  }

  /** Appends a thought and returns its step. Throws a `ThoughtError` for an empty or too long one. */
  async addThought(sessionId: string, thought: string): Promise<number> {
    return (await this.record(sessionId, thought)).step;
  }

  /** Like `addThought`, and tells what was stored and how many thoughts the session holds. */
  async record(sessionId: string, thought: string): Promise<RecordedThought> {
    const text = thought.replaceAll("\0", "").replaceAll("\r\n", "\n").toWellFormed();
    if (text.trim() === "") throw new ThoughtError("'thought' parameter is required", "empty_thought");
    if (text.length > this.#maxLength) {
      throw new ThoughtError(
        `the thought has ${text.length} characters, the maximum is ${this.#maxLength}; split it`,
        "context_error"
      );
    }
    const stored = { text, now: this.#time() };
    const { step, kept } = this.#store.append(checked(sessionId), stored, this.#maxThoughts);
    return { step, thought: text, contextSize: kept };
  }

  /** Oldest first; a copy. None for a session that does not exist. */
  async getAllThoughts(sessionId: string): Promise<ThoughtEntry[]> {
    return this.#store.list(sessionId);
  }

  /** All thoughts as one text, for a prompt. */
  async getFormattedContext(sessionId: string): Promise<string> {
    const thoughts = this.#store.list(sessionId);
    if (thoughts.length === 0) return "No thoughts yet in this session.";
    const parts = thoughts.map(
      ({ step, timestamp, thought }) => `Step ${step} (${timestamp}):\n${thought}\n`
    );
    return `Previous thoughts in this session:\n\n${parts.join("\n")}`;
  }

  /** Forgets the session with its counters; the next thought is step 1. */
  async clearContext(sessionId: string): Promise<void> {
    this.#store.clear(sessionId);
  }

  /** The session's counters; made when it is new. */
  async getContextSummary(sessionId: string): Promise<ThoughtSummary> {
    return { sessionId, ...this.#store.open(checked(sessionId), this.#time()) };
  }

  /** Forgets sessions that nobody used for so many ms, and returns how many. Nothing calls it by itself. */
  async cleanup(maxAgeMs: number): Promise<number> {
    return this.#store.clearUnusedSince(new Date(this.#now().getTime() - maxAgeMs).toISOString());
  }

  #time(): string {
    return this.#now().toISOString();
  }
}

function checked(sessionId: string): string {
  if (sessionId.length <= limits.sessionIdChars) return sessionId;
  throw new ThoughtError(
    `the session id is longer than ${limits.sessionIdChars} characters`,
    "context_error"
  );
}

function within(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new ThinkError(`${name} must be a whole number from ${min} to ${max}, not ${value}.`, {
    code: "invalid-option"
  });
}
