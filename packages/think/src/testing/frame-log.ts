/**
 * Every frame a test client received, in order, and the means to wait for one. Filled by the chat client;
 * turn handles and tests read it.
 *
 * Invariants:
 * L1. A frame is never changed or removed once recorded.
 * L2. A waiter sees each frame exactly once, in order, including those recorded before it began.
 */
import type { UIMessage, UIMessageChunk } from "ai";

/**
 * A frame from the server. The fields of the chat protocol are typed; which of them are present depends on
 * `type`. A message that is not a JSON object with a `type` is recorded as `{ type: "unparsed", raw }`.
 */
export interface ReceivedFrame {
  readonly type: string;
  readonly id?: string;
  readonly body?: string;
  readonly done?: boolean;
  readonly error?: boolean;
  readonly continuation?: boolean;
  readonly replay?: boolean;
  readonly replayComplete?: boolean;
  readonly seq?: number;
  readonly outcome?: string;
  readonly messages?: readonly UIMessage[];
  readonly message?: UIMessage;
  readonly recovering?: boolean;
  readonly [field: string]: unknown;
}

/** A frame type, fields a frame must have, or a question about a frame. */
export type FrameMatch = string | Readonly<Record<string, unknown>> | ((frame: ReceivedFrame) => boolean);

export interface WaitOptions {
  /** Milliseconds before the wait fails. Default: the client's `timeout`. */
  readonly timeout?: number;
  /** Position of the first frame that counts; earlier ones are ignored. Default 0: all frames so far count. */
  readonly from?: number;
  /** What is waited for, in words, for the failure message. Default: taken from the match. */
  readonly wanted?: string;
}

interface Waiter {
  readonly check: () => boolean;
  readonly fail: (error: Error) => void;
}

const shownFrames = 40;
const shownCharacters = 140;

/** The ordered record of received frames. */
export class FrameLog {
  readonly frames: ReceivedFrame[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #timeout: number;
  #ended: string | undefined;

  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  record(data: unknown): void {
    this.frames.push(parseFrame(data));
    for (const waiter of this.#waiters) if (waiter.check()) this.#waiters.delete(waiter);
  }

  /** No frame will come any more: every wait that is not satisfied fails with this reason. */
  end(reason: string): void {
    this.#ended ??= reason;
    for (const waiter of this.#waiters) waiter.fail(new Error(this.failure(reason)));
    this.#waiters.clear();
  }

  /** The first frame at or after `from` that matches, now or later. */
  async waitFor(match: FrameMatch, options: WaitOptions = {}): Promise<ReceivedFrame> {
    const matches = matcherOf(match);
    let position = options.from ?? 0;
    const found = Promise.withResolvers<ReceivedFrame>();
    const check = () => {
      while (position < this.frames.length) {
        const frame = this.frames[position];
        position += 1;
        if (frame !== undefined && matches(frame)) {
          found.resolve(frame);
          return true;
        }
      }
      return false;
    };
    if (check()) return found.promise;
    const wanted = `while waiting for ${options.wanted ?? describeMatch(match)}`;
    if (this.#ended !== undefined) throw new Error(this.failure(`${this.#ended} ${wanted}`));
    const waiter: Waiter = { check, fail: found.reject };
    this.#waiters.add(waiter);
    const timeout = options.timeout ?? this.#timeout;
    const timer = setTimeout(() => {
      found.reject(new Error(this.failure(`${timeout} ms passed ${wanted}`)));
    }, timeout);
    try {
      return await found.promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  /** The text of an error that says `reason` and lists the frames received. */
  failure(reason: string): string {
    const first = Math.max(0, this.frames.length - shownFrames);
    const lines = this.frames
      .slice(first)
      .map((frame, index) => `  #${first + index} ${describeFrame(frame)}`);
    if (first > 0) lines.unshift(`  … ${first} earlier frames`);
    return lines.length === 0
      ? `${reason}. No frame was received.`
      : `${reason}. Frames received:\n${lines.join("\n")}`;
  }
}

/** The UI message chunks in some response frames, in order; error texts and empty bodies are not chunks. */
export function chunksIn(frames: readonly ReceivedFrame[]): UIMessageChunk[] {
  return frames.flatMap((frame) => {
    if (frame.error === true || frame.body === undefined || frame.body.trim() === "") return [];
    const chunk = parseObject(frame.body);
    return chunk === undefined ? [] : [chunk as UIMessageChunk];
  });
}

/** The streamed text in some chunks. */
export function textIn(chunks: readonly UIMessageChunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");
}

function parseFrame(data: unknown): ReceivedFrame {
  const parsed = typeof data === "string" ? parseObject(data) : undefined;
  return parsed ?? { type: "unparsed", raw: data };
}

function parseObject(json: string): ReceivedFrame | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isTyped(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTyped(value: unknown): value is ReceivedFrame {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function matcherOf(match: FrameMatch): (frame: ReceivedFrame) => boolean {
  if (typeof match === "function") return match;
  if (typeof match === "string") return (frame) => frame.type === match;
  const fields = Object.entries(match);
  return (frame) => fields.every(([name, value]) => frame[name] === value);
}

function describeMatch(match: FrameMatch): string {
  if (typeof match === "string") return `a frame of type "${match}"`;
  if (typeof match === "function")
    return `a frame that satisfies ${shorten(match.toString().replaceAll(/\s+/gu, " "))}`;
  return `a frame with ${shorten(JSON.stringify(match))}`;
}

function describeFrame(frame: ReceivedFrame): string {
  const { type, ...rest } = frame;
  return shorten(`${type} ${JSON.stringify(rest)}`);
}

function shorten(text: string): string {
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}
