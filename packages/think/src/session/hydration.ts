/**
 * Brings the active path into memory: all of it when it is small enough, otherwise its newest part. Called by the conversation when
 * nothing is in memory, and when the path moves to a message that is not. Also keeps the stored pointer to the leaf.
 *
 * I1. What is in memory is a suffix of the path, of at least `hydrationFloor` messages if there are so many.
 * I2. A path within the budget costs about one row read per message; beyond it the cost is bounded by the window.
 */
import type { Emit } from "../observability/events";
import { isRecord } from "../shared/json";
import type { ConfigStore } from "../storage/config-store";
import { MESSAGE_LIMITS } from "../shared/limits";
import { MessagePath } from "./message-path";
import type { MessageStore } from "./message-store";
import type { PathWindow } from "./path-reader";

/** Key of the leaf pointer in `think_config`. */
export const LEAF_KEY = "activeLeaf";

/** The stored end of the active path. Counts and bytes ride along in the same row, so that a wake knows what to expect. */
export interface LeafPointer {
  readonly id: string;
  /** Messages from the root to the leaf. */
  readonly count: number;
  /** Their stored JSON in UTF-8 bytes. */
  readonly bytes: number;
}

/** The path in memory and what is known of the older rest. */
export interface HydratedPath {
  readonly path: MessagePath;
  /** The newest message that is stored but not in memory; null when all are in memory. */
  readonly olderId: string | null;
  readonly olderCount: number;
  readonly olderBytes: number;
}

export interface HydrationOptions {
  readonly store: MessageStore;
  readonly config: ConfigStore;
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
    const pointer = this.pointer() ?? this.#adopt();
    return pointer ? this.#read(pointer) : emptyPath();
  }

  /** The path that ends in a stored message. */
  at(leafId: string): HydratedPath {
    return this.#read(this.#measure(leafId));
  }

  /** The newest messages up to and including `id` that fit into the budget. */
  window(id: string): PathWindow {
    return this.#options.store.window(id, {
      maxBytes: this.#budget(),
      minRows: MESSAGE_LIMITS.hydrationFloor
    });
  }

  /** The stored pointer, or undefined when there is none. */
  pointer(): LeafPointer | undefined {
    const value = this.#options.config.get(LEAF_KEY);
    if (!isRecord(value) || typeof value.id !== "string") return undefined;
    return { id: value.id, count: Number(value.count), bytes: Number(value.bytes) };
  }

  /** Stores the pointer to the end of what is in memory. */
  save({ path, olderBytes, olderCount }: HydratedPath): void {
    const id = path.leafId;
    const pointer = { id, count: olderCount + path.messages.length, bytes: olderBytes + path.bytes };
    this.#options.config.set(LEAF_KEY, id === undefined ? undefined : pointer);
  }

  /** A database of the published package has no pointer: its latest leaf is found once and remembered. */
  #adopt(): LeafPointer | undefined {
    const { store, config } = this.#options;
    const leafId = store.latestLeaf();
    if (leafId === null) return undefined;
    const pointer = this.#measure(leafId);
    config.set(LEAF_KEY, pointer);
    return pointer;
  }

  #read(pointer: LeafPointer): HydratedPath {
    const { id, count, bytes } = pointer;
    const isSmall =
      bytes <= Math.min(this.#budget(), MESSAGE_LIMITS.wholePathBytes) &&
      bytes <= count * MESSAGE_LIMITS.wholePathAverage;
    const read = (isSmall ? this.#options.store.whole(id, count) : undefined) ?? this.window(id);
    const path = new MessagePath(read.rows);
    if (read.olderId === null) return { ...emptyPath(), path };
    const older = {
      olderCount: Math.max(1, count - read.count),
      olderBytes: Math.max(0, bytes - read.bytes)
    };
    this.#report(read.bytes + older.olderBytes, path.messages.length);
    return { path, olderId: read.olderId, ...older };
  }

  #measure(leafId: string): LeafPointer {
    let count = 0;
    let bytes = 0;
    for (const row of this.#options.store.sizes(leafId)) {
      count += 1;
      bytes += row.bytes;
    }
    return { id: leafId, count, bytes };
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
