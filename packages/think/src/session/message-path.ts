/**
 * An ordered list of messages with unique ids, their stored sizes and constant-time lookup: the in-memory form of one conversation
 * path. The stock client uploads its whole list with every request, so looking ids up must not be linear.
 *
 * A summary stands for a range of stored messages that are not in the list; it has no row of its own.
 */
import type { UIMessage } from "ai";

/** A message as it is stored. */
export interface StoredMessage {
  readonly message: UIMessage;
  /** UTF-8 bytes of its JSON. */
  readonly bytes: number;
}

/** The first and the last message of a range that a summary stands for. */
export interface SummarisedRange {
  readonly fromId: string;
  readonly toId: string;
}

export class MessagePath {
  readonly #messages: UIMessage[] = [];
  readonly #sizes: number[] = [];
  readonly #positions = new Map<string, number>();
  readonly #ranges = new Map<string, SummarisedRange>();
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

  /** Messages that have a row. */
  get storedCount(): number {
    return this.#messages.length - this.#ranges.size;
  }

  /** Whether stored messages of the path are left out for a summary. */
  get hasSummary(): boolean {
    return this.#ranges.size > 0;
  }

  /** The last stored message; behind a summary at the end, the last one that it stands for. */
  get leafId(): string | undefined {
    const id = this.#messages.at(-1)?.id;
    return id === undefined ? undefined : this.lastOf(id);
  }

  /** What a summary stands for; undefined for a stored message. */
  rangeOf(id: string): SummarisedRange | undefined {
    return this.#ranges.get(id);
  }

  /** The stored message that an entry ends with: itself, or the end of what it summarises. */
  lastOf(id: string): string {
    return this.#ranges.get(id)?.toId ?? id;
  }

  /** The stored message that follows an entry; undefined at the end and for ids that are not here. */
  after(id: string): string | undefined {
    const position = this.#positions.get(id);
    const next = position === undefined ? undefined : this.#messages[position + 1];
    return next && (this.#ranges.get(next.id)?.fromId ?? next.id);
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

  pushSummary(message: UIMessage, range: SummarisedRange): void {
    this.push({ message, bytes: 0 });
    this.#ranges.set(message.id, range);
  }

  /** Puts new content in the place of the message with the same id; nothing happens when there is none. */
  replace({ message, bytes }: StoredMessage): void {
    const position = this.#positions.get(message.id);
    if (position === undefined) return;
    this.#bytes += bytes - this.sizeAt(position);
    this.#messages[position] = message;
    this.#sizes[position] = bytes;
  }

  /** Takes a stored message out; nothing happens when there is none. Linear in what follows it. */
  remove(id: string): void {
    const position = this.#positions.get(id);
    if (position === undefined || this.#ranges.has(id)) return;
    this.#bytes -= this.sizeAt(position);
    this.#messages.splice(position, 1);
    this.#sizes.splice(position, 1);
    this.#positions.delete(id);
    for (let index = position; index < this.#messages.length; index += 1)
      this.#positions.set(this.#messages[index]?.id ?? "", index);
  }

  /** The path up to and including `id`; empty when it is not on the path. */
  upTo(id: string): readonly UIMessage[] {
    return this.#messages.slice(0, (this.#positions.get(id) ?? -1) + 1);
  }

  /** Drops everything after `id` (everything at all when it is not on the path). */
  cutAfter(id: string): void {
    const kept = (this.#positions.get(id) ?? -1) + 1;
    for (const message of this.#messages.splice(kept)) {
      this.#positions.delete(message.id);
      this.#ranges.delete(message.id);
    }
    for (const bytes of this.#sizes.splice(kept)) this.#bytes -= bytes;
  }
}
