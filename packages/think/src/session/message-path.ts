/**
 * An ordered list of messages with unique ids and constant-time lookup: the in-memory form of one conversation path.
 * The stock client uploads its whole list with every request, so looking ids up must not be linear.
 */
import type { UIMessage } from "ai";

export class MessagePath {
  readonly #messages: UIMessage[];
  readonly #positions = new Map<string, number>();

  constructor(messages: readonly UIMessage[] = []) {
    this.#messages = [];
    for (const message of messages) this.push(message);
  }

  get messages(): readonly UIMessage[] {
    return this.#messages;
  }

  get leafId(): string | undefined {
    return this.#messages.at(-1)?.id;
  }

  get(id: string): UIMessage | undefined {
    const position = this.#positions.get(id);
    return position === undefined ? undefined : this.#messages[position];
  }

  push(message: UIMessage): void {
    this.#positions.set(message.id, this.#messages.length);
    this.#messages.push(message);
  }

  /** Puts new content in the place of the message with the same id; nothing happens when there is none. */
  replace(message: UIMessage): void {
    const position = this.#positions.get(message.id);
    if (position !== undefined) this.#messages[position] = message;
  }

  /** The path up to and including `id`; empty when it is not on the path. */
  upTo(id: string): readonly UIMessage[] {
    return this.#messages.slice(0, (this.#positions.get(id) ?? -1) + 1);
  }

  /** Drops everything after `id` (everything at all when it is not on the path). */
  cutAfter(id: string): void {
    const dropped = this.#messages.splice((this.#positions.get(id) ?? -1) + 1);
    for (const message of dropped) this.#positions.delete(message.id);
  }
}
