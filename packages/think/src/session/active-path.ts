/**
 * The active path in memory together with its rows: every change of one is a change of the other. The conversation and the list
 * clients send are rules on top of this; the media eviction works below it.
 *
 * I1. Content and leaf pointer change in one transaction. When it fails, memory is dropped and read anew.
 * I2. What is written fits its row; what equals the stored message is not written.
 */
import type { UIMessage } from "ai";
import { jsonEqual } from "../shared/json";
import type { Sql } from "../storage/sql";
import { isOriginalOf } from "./evict-media";
import type { Forks } from "./forks";
import { emptyPath, type HydratedPath, type Hydration } from "./hydration";
import type { MessagePath, StoredMessage, SummarisedRange } from "./message-path";
import type { MessageStore } from "./message-store";
import type { SizedMessage } from "./path-reader";
import { fitRow } from "./row-limit";
import type { TreeObserver } from "./tree-observer";

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
  readonly hydration: Hydration;
  readonly forks: Forks;
  /** Told of every row that changes, inside the transaction. */
  readonly observer: TreeObserver;
  /** Called when memory is dropped: whatever else was read in the same life may be wrong too. */
  readonly forgotten: () => void;
  /** Called after the path was loaded or changed. */
  readonly changed: () => void;
  /** Called when the path does not merely go on: messages that were on it are not any more. */
  readonly branched: () => void;
}

export class ActivePath {
  readonly #options: ActivePathOptions;
  #loaded: HydratedPath | undefined;
  /** Whether the leaf has children that are not on the path: the next message makes a fork. Unknown until it is asked. */
  #leafForks: boolean | undefined;
  /** Whether the size of the path has changed although its leaf has not. */
  #resized = false;

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

  /** The whole path, newest first, as it is stored: without summaries, with what they stand for. */
  *newestFirst(): Generator<UIMessage> {
    for (const message of this.current.messages.toReversed()) {
      const range = this.current.rangeOf(message.id);
      if (range) yield* this.#range(range);
      else yield message;
    }
    yield* this.older();
  }

  *#range({ fromId, toId }: SummarisedRange): Generator<UIMessage> {
    for (const page of this.#options.store.pages(toId)) {
      for (const { message } of page) {
        yield message;
        if (message.id === fromId) return;
      }
    }
  }

  /** Drops what is in memory; the next use reads it anew. */
  forget(): void {
    this.#loaded = undefined;
    this.#leafForks = undefined;
    this.#options.forgotten();
  }

  /** Runs `work` so that all it writes happens, with the leaf pointer, or nothing. */
  write<Result>(work: () => Result): Result {
    // Loading may make or adopt tables, which must not be rolled back with a message that fails.
    const before = this.#load().path.leafId;
    try {
      const result = this.#options.sql.transaction(() => {
        const done = work();
        const now = this.#load();
        if (now.path.leafId !== before || this.#resized) this.#options.hydration.save(now);
        this.#resized = false;
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
    const { store, forks, observer } = this.#options;
    const parentId = this.#existing(parent);
    const row = fitRow(message);
    const bytes = store.insert(row, parentId);
    if (bytes === undefined) return undefined;
    observer.stored(row.message);
    if (parentId !== (this.current.leafId ?? null)) {
      forks.leave(this.current, parentId, message.id);
      this.#options.branched();
    } else if (this.#hasForks()) forks.joined(parentId, message.id);
    this.#leafForks = false;
    this.#goOn(parentId, { message: row.message, bytes });
    return row.message;
  }

  /** Gives an earlier message of the path new content; what it was, and what followed, becomes another branch, `copyId`. */
  edit(message: UIMessage, copyId: string): UIMessage | undefined {
    const { store, forks, observer } = this.#options;
    const link = store.link(message.id);
    const before = this.current.get(message.id);
    if (!link || !before || this.current.rangeOf(message.id)) return undefined;
    const copy = fitRow({ ...before, id: copyId });
    store.insert(copy, link.parentId, link.createdAt);
    observer.stored(copy.message);
    forks.replaceByCopy(this.current, link, copyId);
    observer.copied(message.id, copyId);
    const row = fitRow(message);
    const bytes = store.renew(row) ?? 0;
    observer.stored(row.message);
    this.current.cutAfter(message.id);
    this.current.replace({ message: row.message, bytes });
    this.#leafForks = false;
    this.#options.branched();
    return row.message;
  }

  /** Ends the path at another stored message. */
  moveTo(leafId: string): void {
    if (leafId === this.current.leafId) return;
    this.#options.forks.leave(this.current, leafId, undefined);
    this.#loaded = this.#options.hydration.at(leafId);
    this.#leafForks = undefined;
    this.#options.branched();
  }

  /** Takes messages out of the tree. The path goes on without them; when its end goes, it ends at the last one that stays. */
  remove(ids: readonly string[]): string[] {
    const { store, forks, hydration, observer } = this.#options;
    let leafId: string | null = this.current.leafId ?? null;
    const removed: string[] = [];
    for (const id of ids) {
      const link = store.link(id);
      if (!link) continue;
      observer.removing(link, (laterId) => forks.childTowards(id, laterId));
      forks.splice(this.current, link);
      if (leafId === id) leafId = link.parentId;
      // Each removal changes the neighbours that the next one asks for. Reading the path anew for each would be quadratic.
      if (leafId !== null && this.#isWhole) this.current.remove(id);
      else this.#loaded = leafId === null ? hydration.newest() : hydration.at(leafId);
      leafId = this.current.leafId ?? null;
      removed.push(id);
    }
    this.#leafForks = undefined;
    this.#resized = removed.length > 0;
    if (removed.length > 0) this.#options.branched();
    return removed;
  }

  /** Gives a stored message new content in its place, on the path or not. */
  replace(stored: UIMessage | undefined, message: UIMessage): Saved {
    if (stored && (jsonEqual(stored, message) || isOriginalOf(message, stored)))
      return { message: stored, written: false };
    const row = fitRow(message);
    if (stored && row.message !== message && jsonEqual(stored, row.message))
      return { message: stored, written: false };
    const bytes = this.#options.store.update(row);
    if (bytes !== undefined) {
      this.current.replace({ message: row.message, bytes });
      this.#options.observer.stored(row.message);
    }
    return { message: row.message, written: bytes !== undefined };
  }

  clear(): void {
    this.#options.store.clear();
    this.#options.forks.clear();
    this.#options.observer.cleared();
    this.#leafForks = false;
    this.#loaded = emptyPath();
    this.#options.hydration.save(this.#loaded);
  }

  /** Sizes of the messages that are not in memory, newest first, without contents. */
  olderSizes(): Iterable<SizedMessage> {
    return this.olderId === null ? [] : this.#options.store.sizes(this.olderId);
  }

  /** A stored message, in memory or not. */
  read(id: string): UIMessage | undefined {
    return this.#loaded?.path.get(id) ?? this.#options.store.get(id)?.message;
  }

  /** Messages in memory that are older than the newest `keep` and have at least `minBytes`, oldest first. */
  large(keep: number, minBytes: number): SizedMessage[] {
    const path = this.#loaded?.path;
    const found: SizedMessage[] = [];
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

  /** Whether every message of the path is in memory as it is stored. */
  get #isWhole(): boolean {
    return this.olderId === null && !this.current.hasSummary;
  }

  /** A parent that is not stored makes the message a root. */
  #existing(parent: Parent): string | null {
    if (parent === undefined) return this.current.leafId ?? null;
    if (parent === null) return null;
    if (this.current.get(parent)) return this.current.lastOf(parent);
    return this.#options.store.has(parent) ? parent : null;
  }

  /** Puts a new leaf on the path that ends, or branches off, at `parentId`. */
  #goOn(parentId: string | null, stored: StoredMessage): void {
    if (parentId === null) this.#loaded = emptyPath();
    else if (parentId !== this.current.leafId) {
      // The branch point is not in memory: what comes before it has to be read.
      if (!this.current.get(parentId)) {
        this.#loaded = this.#options.hydration.at(stored.message.id);
        return;
      }
      this.current.cutAfter(parentId);
    }
    this.current.push(stored);
  }

  #hasForks(): boolean {
    this.#leafForks ??= this.#options.forks.of(this.current.leafId ?? null).length > 0;
    return this.#leafForks;
  }
}
