/**
 * An ordered list of messages with unique ids, their stored sizes and constant-time lookup: the in-memory form of one conversation
 * path. The stock client uploads its whole list with every request, so looking ids up must not be linear.
 */
import type { UIMessage } from "ai";

/** A message as it is stored. */
export interface StoredMessage {
  readonly message: UIMessage;
  /** UTF-8 bytes of its JSON. */
  readonly bytes: number;
}

export class MessagePath {
  readonly #messages: UIMessage[] = [];
  readonly #sizes: number[] = [];
  readonly #positions = new Map<string, number>();
  #bytes = 0;

  constructor(rows: readonly StoredMessage[] = []) {
    for (const row of rows) this.push(row);
  }

  get messages(): readonly UIMessage[] {
    return this.#messages;
  }

  /** UTF-8 bytes of all messages as stored. */
  get bytes(): number {
    return this.#bytes;
  }

  get leafId(): string | undefined {
    return this.#messages.at(-1)?.id;
  }

  get(id: string): UIMessage | undefined {
    const position = this.#positions.get(id);
    return position === undefined ? undefined : this.#messages[position];
  }

  /** Stored bytes of the message at a position; 0 when there is none. */
  sizeAt(position: number): number {
    return this.#sizes[position] ?? 0;
  }

  push({ message, bytes }: StoredMessage): void {
    this.#positions.set(message.id, this.#messages.length);
    this.#messages.push(message);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
  }

  /** Puts new content in the place of the message with the same id; nothing happens when there is none. */
  replace({ message, bytes }: StoredMessage): void {
    const position = this.#positions.get(message.id);
    if (position === undefined) return;
    this.#bytes += bytes - this.sizeAt(position);
    this.#messages[position] = message;
    this.#sizes[position] = bytes;
  }

  /** The path up to and including `id`; empty when it is not on the path. */
  upTo(id: string): readonly UIMessage[] {
    return this.#messages.slice(0, (this.#positions.get(id) ?? -1) + 1);
  }

  /** Drops everything after `id` (everything at all when it is not on the path). */
  cutAfter(id: string): void {
    const kept = (this.#positions.get(id) ?? -1) + 1;
    for (const message of this.#messages.splice(kept)) this.#positions.delete(message.id);
    for (const bytes of this.#sizes.splice(kept)) this.#bytes -= bytes;
  }
}
