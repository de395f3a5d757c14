/**
 * Brings the active path into memory: all of it when it is small enough, otherwise its newest part. Called by the conversation when
 * nothing is in memory, and when the path moves to a message that is not. Also keeps the stored pointer to the leaf.
 *
 * I1. What is in memory is a suffix of the path, of at least `hydrationFloor` messages if there are so many; messages that a summary
 *     stands for are not read.
 * I2. A path within the budget costs about one row read per message; beyond it the cost is bounded by the window.
 */
import type { UIMessage } from "ai";
import type { Emit } from "../observability/events";
import type { BranchStore } from "./branch-store";
import { childrenByParent, missingForks, newestLeaves } from "./forks";
import { ThinkError } from "../shared/errors/think-error";
import { MESSAGE_LIMITS } from "../shared/limits";
import { applyOverlays, summaryMessage, type StoredCompaction } from "./compaction/overlay";
import { MessagePath, type StoredMessage } from "./message-path";
import type { MessageLink, MessageStore } from "./message-store";
import type { PathWindow, SessionScope } from "./path-reader";
import type { LeafPointer, SessionStore } from "./session-store";

/** The path in memory and what is known of the rest. */
export interface HydratedPath {
  readonly path: MessagePath;
  /** The newest message that is stored but not in memory (summarised ones aside); null when all are in memory. */
  readonly olderId: string | null;
  /** Stored messages of the path that are not in memory, summarised ones included. */
  readonly olderCount: number;
  readonly olderBytes: number;
}

export interface HydrationOptions {
  readonly store: MessageStore;
  readonly sessions: SessionStore;
  readonly branches: BranchStore;
  readonly scope: SessionScope;
  /** Summaries of the session, oldest first. */
  readonly summaries: () => readonly StoredCompaction[];
  /** Bytes of stored JSON to hold in memory; zero, negative or non-finite means all. */
  readonly byteBudget: () => number;
  readonly emit: Emit;
}

export function emptyPath(): HydratedPath {
  return { path: new MessagePath(), olderId: null, olderCount: 0, olderBytes: 0 };
}

export class Hydration {
  readonly #options: HydrationOptions;
  #lastEvent = "";

  constructor(options: HydrationOptions) {
    this.#options = options;
  }

  /** The active path. */
  load(): HydratedPath {
    const { sessions, scope } = this.#options;
    const stored = sessions.pointer(scope.id);
    const pointer = stored === undefined ? this.#adopt() : (stored ?? undefined);
    return pointer ? this.#read(pointer) : emptyPath();
  }

  /** The path to the newest leaf of all, for a session whose active path is gone. */
  newest(): HydratedPath {
    const pointer = this.#adopt();
    return pointer ? this.#read(pointer) : emptyPath();
  }

  /** The path that ends in a stored message. */
  at(leafId: string): HydratedPath {
    return this.#read(this.measure(leafId));
  }

  /** The newest messages up to and including `id` that fit into so many bytes (default: the budget), with summaries. */
  window(id: string, bytes = this.#budget()): readonly UIMessage[] {
    return this.#summarised(id, bytes).path.messages;
  }

  /** The path that ends in a stored message, with summaries. Refused when it is too large for one list. */
  whole(leafId: string): readonly UIMessage[] {
    const most = MESSAGE_LIMITS.wholeHistoryBytes;
    const { path, olderId } = this.#summarised(leafId, most);
    if (olderId === null) return path.messages;
    throw new ThinkError(
      `This history is larger than ${most} bytes, which is the most that fits into memory as one list. Read it in pages with getMessagesBefore(), the newest part with session.getRecentHistory(), or all of it with exportSessionStream().`,
      { code: "history-too-large" }
    );
  }

  /** The end of a path, with summaries of ranges that lie wholly in it. `ids` are those of its last rows. */
  among(ids: ReadonlySet<string>, leafId: string): readonly UIMessage[] {
    const messages: UIMessage[] = [];
    for (const page of ids.size === 0 ? [] : this.#options.store.pages(leafId)) {
      const wanted = page.filter(({ message }) => ids.has(message.id));
      for (const { message } of wanted) messages.push(message);
      // Rows that are no messages are in no page, so the last id may never come.
      if (messages.length === ids.size || wanted.length < page.length) break;
    }
    return applyOverlays(messages.toReversed(), this.#options.summaries());
  }

  /** Stores the pointer to the end of what is in memory. */
  save({ path, olderBytes, olderCount }: HydratedPath): void {
    const { sessions, scope } = this.#options;
    const id = path.leafId;
    const pointer = { count: olderCount + path.storedCount, bytes: olderBytes + path.bytes };
    sessions.savePointer(scope.id, id === undefined ? null : { id, ...pointer });
  }

  /** Messages and bytes from the root to a message. */
  measure(leafId: string): LeafPointer {
    let count = 0;
    let bytes = 0;
    for (const row of this.#options.store.sizes(leafId)) {
      count += 1;
      bytes += row.bytes;
    }
    return { id: leafId, count, bytes };
  }

  /** A database of the published package has no pointer: its newest leaf and its forks are found once and remembered. */
  #adopt(): LeafPointer | undefined {
    const { store, sessions, scope } = this.#options;
    const links = store.links();
    const leaves = newestLeaves(links);
    const leafId = links.findLast(({ id }) => leaves.get(id) === id)?.id;
    if (leafId === undefined) return undefined;
    this.#separate(links);
    for (const fork of missingForks(links, leafId))
      this.#options.branches.note(fork.parentId, fork.childId, fork.leafId);
    const pointer = this.measure(leafId);
    sessions.adoptPointer(scope.id, pointer);
    return pointer;
  }

  /** Published times are whole seconds, and rowids are lost to later reads: siblings of one second get times that tell their order. */
  #separate(links: readonly MessageLink[]): void {
    const times = new Map(links.map(({ id, createdAt }) => [id, createdAt]));
    for (const siblings of childrenByParent(links).values()) {
      let newest = Number.NEGATIVE_INFINITY;
      for (const id of siblings) {
        const stored = times.get(id) ?? 0;
        newest = Math.max(stored, newest + 1);
        if (newest !== stored) this.#options.store.retime(id, newest);
      }
    }
  }

  #read(pointer: LeafPointer): HydratedPath {
    const read =
      this.#unbranched(pointer) ?? this.#small(pointer) ?? this.#summarised(pointer.id, this.#budget());
    const olderCount = Math.max(0, pointer.count - read.path.storedCount);
    if (read.olderId === null && !read.path.hasSummary) return read;
    const older = {
      olderCount: Math.max(read.olderId === null ? 0 : 1, olderCount),
      olderBytes: Math.max(0, pointer.bytes - read.path.bytes)
    };
    if (read.olderId !== null) this.#report(pointer.bytes, read.path.messages.length);
    return { ...read, ...older };
  }

  /** A path without summaries that fits into memory and is all there is of its session. */
  #unbranched(pointer: LeafPointer): HydratedPath | undefined {
    const { store, branches, summaries } = this.#options;
    if (pointer.bytes > Math.min(this.#budget(), MESSAGE_LIMITS.hydrationBytes)) return undefined;
    if (summaries().length > 0 || branches.any()) return undefined;
    const read = store.scan(pointer);
    return read && { ...emptyPath(), path: new MessagePath(read.rows) };
  }

  /** A path without summaries that one statement can read. */
  #small({ id, count, bytes }: LeafPointer): HydratedPath | undefined {
    const isSmall =
      bytes <= Math.min(this.#budget(), MESSAGE_LIMITS.wholePathBytes) &&
      bytes <= count * MESSAGE_LIMITS.wholePathAverage;
    if (!isSmall || this.#options.summaries().length > 0) return undefined;
    const read = this.#options.store.whole(id, count);
    return read && { ...emptyPath(), path: new MessagePath(read.rows), olderId: read.olderId };
  }

  /**
   * Reads from a message towards the root. Where a message ends a summarised range, the summary is taken and reading goes on before
   * the range; of two ranges that overlap the one that ends later wins, of two that end together the newer one.
   */
  #summarised(leafId: string, budget: number): HydratedPath {
    const byEnd = new Map(this.#options.summaries().map((summary) => [summary.toMessageId, summary]));
    const parts: (StoredMessage | StoredCompaction)[] = [];
    const left: { bytes: number; rows: number } = { bytes: budget, rows: MESSAGE_LIMITS.hydrationFloor };
    let next: string | null = leafId;
    while (next !== null) {
      const summary = byEnd.get(next);
      const before = summary && this.#options.store.link(summary.fromMessageId);
      // A range is used once, and one whose beginning is gone not at all: its messages are read as they are.
      byEnd.delete(next);
      if (summary && before) {
        parts.push(summary);
        next = before.parentId;
        continue;
      }
      const window = this.#window(next, left, byEnd);
      parts.push(...window.rows.toReversed());
      left.bytes -= window.bytes;
      left.rows = Math.max(0, left.rows - window.count);
      next = window.olderId;
      if (next !== null && !byEnd.has(next)) break;
    }
    return { ...emptyPath(), path: pathOf(parts), olderId: next };
  }

  #window(
    from: string,
    left: { readonly bytes: number; readonly rows: number },
    byEnd: ReadonlyMap<string, StoredCompaction>
  ): PathWindow {
    return this.#options.store.window(from, {
      maxBytes: left.bytes,
      minRows: left.rows,
      stops: new Set(byEnd.keys())
    });
  }

  #report(totalContentBytes: number, hydratedMessages: number): void {
    const key = `${totalContentBytes}/${hydratedMessages}`;
    if (key === this.#lastEvent) return;
    if (this.#lastEvent === "") {
      console.warn(
        `[Think] Only the newest ${hydratedMessages} messages are in memory, because the conversation is larger than hydrationByteBudget (${this.#budget()} bytes). The others are stored.`
      );
    }
    this.#lastEvent = key;
    this.#options.emit("chat:hydration:windowed", {
      totalContentBytes,
      budgetBytes: this.#budget(),
      hydratedMessages
    });
  }

  #budget(): number {
    const budget = this.#options.byteBudget();
    return Number.isFinite(budget) && budget > 0 ? budget : Number.POSITIVE_INFINITY;
  }
}

/** Parts come newest first; a message that a damaged path meets twice is taken once. */
function pathOf(parts: readonly (StoredMessage | StoredCompaction)[]): MessagePath {
  const path = new MessagePath();
  for (const part of parts.toReversed()) {
    if ("message" in part) {
      if (!path.get(part.message.id)) path.push(part);
    } else {
      path.pushSummary(summaryMessage(part), { fromId: part.fromMessageId, toId: part.toMessageId });
    }
  }
  return path;
}
