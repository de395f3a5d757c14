/**
 * The active path in memory together with its rows: every change of one is a change of the other. The conversation and the list
 * clients send are rules on top of this; the media eviction works below it.
 *
 * I1. Content and leaf pointer change in one transaction. When it fails, memory is dropped and read anew.
 * I2. What is written fits its row; what equals the stored message is not written.
 */
import type { UIMessage } from "ai";
import { jsonEqual } from "../shared/json";
import type { ConfigStore } from "../storage/config-store";
import type { Sql } from "../storage/sql";
import { isOriginalOf } from "./evict-media";
import { emptyPath, type HydratedPath, type Hydration } from "./hydration";
import type { MessagePath } from "./message-path";
import type { MessageStore } from "./message-store";
import type { RowSize } from "./path-reader";
import { fitRow } from "./row-limit";

/** Where a new message goes: below a message, as a new root (`null`), or below the current leaf (`undefined`). */
export type Parent = string | null | undefined;

/** What a write did to one message. */
export interface Saved {
  /** The message as it is stored now. */
  readonly message: UIMessage;
  readonly written: boolean;
}

export interface ActivePathOptions {
  readonly sql: Sql;
  readonly store: MessageStore;
  readonly config: ConfigStore;
  readonly hydration: Hydration;
  /** Called after the path was loaded or changed. */
  readonly changed: () => void;
}

export class ActivePath {
  readonly #options: ActivePathOptions;
  #loaded: HydratedPath | undefined;

  constructor(options: ActivePathOptions) {
    this.#options = options;
  }

  /** What is in memory; loads it when nothing is. */
  get current(): MessagePath {
    return this.#load().path;
  }

  get isLoaded(): boolean {
    return this.#loaded !== undefined;
  }

  /** The newest message of the path that is not in memory; null when there is none or nothing is loaded yet. */
  get olderId(): string | null {
    return this.#loaded?.olderId ?? null;
  }

  /** The messages that are not in memory, newest first, read page by page. */
  *older(): Generator<UIMessage> {
    const { olderId } = this.#load();
    if (olderId === null) return;
    for (const page of this.#options.store.pages(olderId)) for (const { message } of page) yield message;
  }

  /** The whole path, newest first. */
  *newestFirst(): Generator<UIMessage> {
    yield* this.current.messages.toReversed();
    yield* this.older();
  }

  /** Drops what is in memory; the next use reads it anew. */
  forget(): void {
    this.#loaded = undefined;
    this.#options.config.refresh();
  }

  /** Runs `work` so that all it writes happens, with the leaf pointer, or nothing. */
  write<Result>(work: () => Result): Result {
    // Loading may make or adopt tables, which must not be rolled back with a message that fails.
    const before = this.#load().path.leafId;
    try {
      const result = this.#options.sql.transaction(() => {
        const done = work();
        const now = this.#load();
        if (now.path.leafId !== before) this.#options.hydration.save(now);
        return done;
      });
      this.#options.changed();
      return result;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Stores a new message, which becomes the leaf. Undefined when its id is stored already; then nothing happens. */
  insert(message: UIMessage, parent: Parent): UIMessage | undefined {
    const { store, hydration } = this.#options;
    const parentId = this.#existing(parent);
    const row = fitRow(message);
    const bytes = store.insert(row, parentId);
    if (bytes === undefined) return undefined;
    if (parentId !== null && !this.current.get(parentId)) {
      // The branch point is not in memory: what comes before it has to be read.
      this.#loaded = hydration.at(message.id);
      return row.message;
    }
    if (parentId === null) this.#loaded = emptyPath();
    else this.current.cutAfter(parentId);
    this.current.push({ message: row.message, bytes });
    return row.message;
  }

  /** Gives a stored message new content in its place, on the path or not. */
  replace(stored: UIMessage | undefined, message: UIMessage): Saved {
    if (stored && (jsonEqual(stored, message) || isOriginalOf(message, stored)))
      return { message: stored, written: false };
    const row = fitRow(message);
    if (stored && row.message !== message && jsonEqual(stored, row.message))
      return { message: stored, written: false };
    const bytes = this.#options.store.update(row);
    if (bytes !== undefined) this.current.replace({ message: row.message, bytes });
    return { message: row.message, written: bytes !== undefined };
  }

  clear(): void {
    this.#options.store.clear();
    this.#loaded = emptyPath();
    this.#options.hydration.save(this.#loaded);
  }

  /** Sizes of the messages that are not in memory, newest first, without contents. */
  olderSizes(): Iterable<RowSize> {
    return this.olderId === null ? [] : this.#options.store.sizes(this.olderId);
  }

  /** A stored message, in memory or not. */
  read(id: string): UIMessage | undefined {
    return this.#loaded?.path.get(id) ?? this.#options.store.get(id)?.message;
  }

  /** Messages in memory that are older than the newest `keep` and have at least `minBytes`, oldest first. */
  large(keep: number, minBytes: number): RowSize[] {
    const path = this.#loaded?.path;
    const found: RowSize[] = [];
    for (const [position, { id }] of (path?.messages.slice(0, -keep) ?? []).entries()) {
      const bytes = path?.sizeAt(position) ?? 0;
      if (bytes >= minBytes) found.push({ id, bytes });
    }
    return found;
  }

  /** Replaces a message behind everybody's back, unless it has changed since it was read. Returns its new size. */
  rewrite(before: UIMessage, after: UIMessage): number | undefined {
    if (!jsonEqual(this.read(before.id), before)) return undefined;
    const bytes = this.#options.store.update({ message: after, json: JSON.stringify(after) });
    if (bytes !== undefined) this.#loaded?.path.replace({ message: after, bytes });
    return bytes;
  }

  #load(): HydratedPath {
    if (this.#loaded) return this.#loaded;
    this.#loaded = this.#options.hydration.load();
    this.#options.changed();
    return this.#loaded;
  }

  /** A parent that is not stored makes the message a root. */
  #existing(parent: Parent): string | null {
    if (parent === undefined) return this.current.leafId ?? null;
    if (parent === null || this.current.get(parent)) return parent;
    return this.#options.store.has(parent) ? parent : null;
  }
}
