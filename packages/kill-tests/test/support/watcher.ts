/**
 * A tab in front of the agent: asks once, comes back after every kill, accepts what it is offered, and remembers what it was shown. It speaks
 * the plain protocol and keeps no state of the conversation but its own question.
 */
import { connectChat, userMessage, type ChatClient, type ReceivedFrame } from "@cloudflare/think/testing";

export const QUESTION = userMessage("Do the fifty steps.", "question");
const REQUEST = "request-of-the-tab";

/** Longest wait for the end of a turn (milliseconds); without load it takes half a second. */
const PATIENCE = 60_000;

/** A result that was shown to a client. */
export interface Shown {
  readonly step: number;
  readonly run: number;
}

export class Watcher {
  /** Results that any connection was shown. */
  readonly shown = new Map<number, Shown>();
  readonly #name: string;
  #client: ChatClient | undefined;
  /** Since when frames count: the beginning of this connection. */
  #asked = false;

  constructor(name: string) {
    this.#name = name;
  }

  get frames(): readonly ReceivedFrame[] {
    return this.#client?.frames ?? [];
  }

  async connect(url: string): Promise<void> {
    this.remember();
    this.#asked = false;
    this.#client = await connectChat(url, {
      ...{ agent: "Chat", name: this.#name, timeout: PATIENCE },
      query: { _pk: `tab-of-${this.#name}` }
    });
  }

  /** Opens the page and stays until the turn is over. Never resolves when the runtime dies meanwhile. */
  async visits(url: string): Promise<{ readonly recovered: boolean }> {
    try {
      await this.connect(url);
      return await this.seesTheEnd();
    } catch (error) {
      if (!isGone(error)) throw error;
      return new Promise(() => undefined);
    }
  }

  ask(): void {
    this.#asked = true;
    this.client.chat([QUESTION], { id: REQUEST });
  }

  /** Resolves when so many frames have come since the connection was opened. */
  async hasFrames(count: number): Promise<void> {
    const deadline = performance.now() + PATIENCE;
    while (this.frames.length < count && performance.now() < deadline)
      await new Promise((resolve) => setImmediate(resolve));
  }

  /**
   * What a returning tab does: looks at what it is told, accepts a stream, asks again when its question was never stored. Resolves when the
   * turn is over for this tab, with whether it was told that the turn was being recovered.
   */
  async seesTheEnd(): Promise<{ readonly recovered: boolean }> {
    if (this.#asked) {
      await this.client.follow(REQUEST).done;
      return { recovered: false };
    }
    const first = await this.client.waitFor(
      ({ type }) => type === "cf_agent_chat_messages" || type === RESUMING
    );
    if (first.messages?.length === 0) {
      this.ask();
      return this.seesTheEnd();
    }
    if (isComplete(first)) return { recovered: false };
    // Whoever comes while the recovered turn is streaming is offered its stream; whoever comes before is told that it will be recovered.
    if (first.type === RESUMING) this.client.send({ type: "cf_agent_stream_resume_ack", id: first.id });
    else await this.client.waitFor({ type: RECOVERING, recovering: true });
    await this.client.waitFor({ type: RECOVERING, recovering: false });
    return { recovered: true };
  }

  /** Keeps what this connection was shown. */
  remember(): void {
    for (const frame of this.frames)
      for (const result of resultsIn(frame)) this.shown.set(result.run, result);
  }

  async close(): Promise<void> {
    this.remember();
    await this.#client?.close();
  }

  get client(): ChatClient {
    if (!this.#client) throw new Error("The tab is not connected.");
    return this.#client;
  }
}

/** The socket was cut, or there is nobody to connect to. */
function isGone(error: unknown): boolean {
  return error instanceof Error && /socket was closed|No WebSocket could be opened/u.test(error.message);
}

const RESUMING = "cf_agent_stream_resuming";
const RECOVERING = "cf_agent_chat_recovering";
const DONE = "All 50 steps are done.";

function isComplete({ messages = [] }: ReceivedFrame): boolean {
  return messages.at(-1)?.parts.some((part) => part.type === "text" && part.text === DONE) ?? false;
}

/** The tool results in a streamed chunk or in a list of messages. */
function resultsIn({ body, messages }: ReceivedFrame): Shown[] {
  if (messages) return messages.flatMap(({ parts }) => parts.flatMap(resultOf));
  const chunk: unknown = body?.startsWith("{") ? JSON.parse(body) : undefined;
  return resultOf(chunk);
}

/** The result in a chunk or in a part of a message. */
export function resultOf(value: unknown): Shown[] {
  if (typeof value !== "object" || value === null || !("output" in value)) return [];
  return [value.output as Shown];
}
