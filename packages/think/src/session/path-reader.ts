/**
 * Reads paths of the conversation tree: whole, their newest part, page by page, or sizes only. Part of the message store.
 *
 * I1. Rows that are no message any more are skipped; the path goes on behind them.
 * I2. No more than a page is read beyond what is asked for.
 */
import type { UIMessage } from "ai";
import { errorText } from "../shared/errors/error-text";
import { isRecord } from "../shared/json";
import type { Sql } from "../storage/sql";
import { MESSAGE_LIMITS } from "../shared/limits";
import type { StoredMessage } from "./message-path";
import {
  CHAIN,
  PATH_PAGE,
  PATH_PAGE_TO_COMPACTION,
  PATH_SIZES,
  unchain,
  WHOLE_PATH,
  type PathRow
} from "./path-query";

/** The newest part of a path. */
export interface PathWindow {
  /** Oldest first. */
  readonly rows: readonly StoredMessage[];
  /** Rows and bytes read, unreadable rows included. */
  readonly count: number;
  readonly bytes: number;
  /** The next older message, which did not fit; null when the window reaches the root. */
  readonly olderId: string | null;
}

/** Which session's messages are meant. */
export interface SessionScope {
  /** Empty for the primary session. */
  readonly id: string;
}

export interface SizedMessage {
  readonly id: string;
  /** UTF-8 bytes of the stored JSON. */
  readonly bytes: number;
}

/** A row of a path without its content. */
export interface RowSize extends SizedMessage {
  readonly parentId: string | null;
  readonly role: string;
}

export interface WindowOptions {
  /** UTF-8 bytes of stored JSON; may be infinite. */
  readonly maxBytes: number;
  /** Messages that are read whatever they weigh. */
  readonly minRows: number;
  /** Stored messages that end a compaction: reading stops before them. Default: none. */
  readonly stops?: ReadonlySet<string> | undefined;
}

export interface PathReader {
  /**
   * A whole path of about `count` messages with the fewest rows read; for paths that fit into memory at once. Undefined when several
   * large messages follow each other, which this way of reading cannot take: read it with `window`.
   */
  whole(leafId: string, count: number): PathWindow | undefined;
  /** The newest messages of a path, read page by page. */
  window(leafId: string, options: WindowOptions): PathWindow;
  /** A path from `fromId` to the root, newest first, in pages of bounded size. */
  pages(fromId: string): Generator<readonly StoredMessage[]>;
  /** Sizes from `fromId` to the root, newest first, without contents. Rows are read as they are asked for, in growing pages. */
  sizes(fromId: string): Generator<RowSize>;
}

/** Rows of the first page of `sizes`. */
const FIRST_SIZES = 10;

type PageRow = PathRow & { readonly parent_id: string | null };
type SizeRow = {
  readonly id: string;
  readonly parent_id: string | null;
  readonly role: string;
  readonly size: number;
};

export function createPathReader(query: Sql["exec"], scope: SessionScope): PathReader {
  const page = (fromId: string, rows: number, { maxBytes, minRows, stops }: WindowOptions): PageRow[] =>
    query<PageRow>(
      stops && stops.size > 0 ? PATH_PAGE_TO_COMPACTION : PATH_PAGE,
      ...[fromId, rows, minRows, Math.min(maxBytes, MESSAGE_LIMITS.pageBytes), scope.id]
    );

  return {
    whole: (leafId, count) => readWhole(query, scope, leafId, count),
    window(leafId, { maxBytes, minRows, stops }) {
      const collected = new Collected();
      for (
        let next: string | null = leafId;
        next !== null && collected.count < MESSAGE_LIMITS.pathMessages;
      ) {
        if (stops?.has(next) && collected.count > 0) return collected.window(next);
        const found = page(next, MESSAGE_LIMITS.windowPageRows, {
          stops,
          maxBytes: maxBytes - collected.bytes,
          minRows: Math.max(0, minRows - collected.count)
        });
        // Nothing: either no room is left, or the parent is gone, which is how a deleted message cuts a path.
        if (found.length === 0) return collected.window(exists(query, scope, next) ? next : null);
        collected.add(found);
        next = found.at(-1)?.parent_id ?? null;
      }
      return collected.window(null);
    },
    *pages(fromId) {
      let walked = 0;
      for (let next: string | null = fromId; next !== null && walked < MESSAGE_LIMITS.pathMessages;) {
        const found: PageRow[] = page(next, MESSAGE_LIMITS.pageRows, {
          maxBytes: MESSAGE_LIMITS.pageBytes,
          minRows: 1
        });
        yield found.flatMap(readable);
        walked += found.length;
        next = found.at(-1)?.parent_id ?? null;
      }
    },
    *sizes(fromId) {
      let walked = 0;
      for (let next: string | null = fromId; next !== null && walked < MESSAGE_LIMITS.pathMessages;) {
        // Growing pages: a caller that stops soon has read little, one that goes on needs few statements.
        const limit = Math.min(MESSAGE_LIMITS.windowPageRows, walked + FIRST_SIZES);
        const found: SizeRow[] = query<SizeRow>(PATH_SIZES, next, limit, scope.id);
        for (const { id, parent_id, role, size } of found)
          yield { id, parentId: parent_id, role, bytes: size };
        walked += found.length;
        next = found.at(-1)?.parent_id ?? null;
      }
    }
  };
}

function readWhole(
  query: Sql["exec"],
  scope: SessionScope,
  leafId: string,
  count: number
): PathWindow | undefined {
  try {
    const collected = new Collected();
    for (const row of query(WHOLE_PATH, leafId, Math.ceil(count / CHAIN) + 1, scope.id))
      collected.add(unchain(row));
    return collected.window(null);
  } catch (error) {
    // The messages of one step are one record to SQLite, and a record has a largest size.
    if (errorText(error).includes("SQLITE_TOOBIG")) return undefined;
    throw error;
  }
}

/** What has been read of a path, newest first. Rows are parsed as they come, so that only messages stay in memory. */
class Collected {
  readonly #messages: StoredMessage[] = [];
  readonly #ids = new Set<string>();
  bytes = 0;
  count = 0;

  add(rows: readonly PathRow[]): void {
    for (const row of rows) {
      this.bytes += row.size;
      this.count += 1;
      // A damaged path that runs in a circle is followed once.
      if (!this.#ids.has(row.id)) this.#messages.push(...readable(row));
      this.#ids.add(row.id);
    }
  }

  window(olderId: string | null): PathWindow {
    return { rows: this.#messages.toReversed(), count: this.count, bytes: this.bytes, olderId };
  }
}

/** Whether a message is stored. */
export function exists(query: Sql["exec"], scope: SessionScope, id: string): boolean {
  const statement = "SELECT 1 FROM assistant_messages WHERE session_id = ? AND id = ?";
  return query(statement, scope.id, id).length > 0;
}

/** The message of a row, or nothing when it is none. */
export function readable({ id, content, size }: PathRow): StoredMessage[] {
  try {
    const value: unknown = JSON.parse(content);
    if (!isRecord(value) || typeof value.role !== "string" || !isPartList(value.parts)) return [];
    // Copies made by early releases carry the id of their origin inside; the row's own id is the one that counts.
    const message = (value.id === id ? value : { ...value, id }) as unknown as UIMessage;
    return [{ message, bytes: size }];
  } catch {
    return [];
  }
}

function isPartList(parts: unknown): boolean {
  return Array.isArray(parts) && parts.every((part) => isRecord(part) && typeof part.type === "string");
}
