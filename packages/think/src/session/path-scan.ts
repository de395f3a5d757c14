/**
 * Reads a path that has no branches beside it: then every message of the session is on it, and reading them in the order of their key
 * costs one row each, where following parent links costs more. Part of the message store, used on a wake.
 *
 * I1. What does not turn out to be exactly one path of the expected length is not taken; the caller follows the links then.
 * I2. Pages are of bounded size on average; all of them together are within what the caller may hold in memory.
 */
import { MESSAGE_LIMITS } from "../shared/limits";
import type { Sql } from "../storage/sql";
import type { StoredMessage } from "./message-path";
import type { PathRow } from "./path-query";
import { readable, type PathWindow, type SessionScope } from "./path-reader";

/** One page of session ?1 behind message ?2, at most ?3 rows. */
export const SESSION_PAGE = `SELECT id, parent_id, content, octet_length(content) AS size FROM assistant_messages
  WHERE session_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3`;

/** Fails on our own layout, which has no rowid, and reads nothing on the published one, whose key knows no sessions. */
export const HAS_ROWID = "SELECT rowid FROM assistant_messages LIMIT 0";

/** A path by what is known of it. */
export interface PathSize {
  readonly id: string;
  readonly count: number;
  readonly bytes: number;
}

interface Node {
  readonly parentId: string | null;
  /** Empty when the row is no message any more. */
  readonly stored: readonly StoredMessage[];
}

export function scanPath(query: Sql["exec"], scope: SessionScope, path: PathSize): PathWindow | undefined {
  if (hasRowid(query)) return undefined;
  const nodes = new Map<string, Node>();
  const average = Math.max(1, path.bytes / Math.max(1, path.count));
  const pageRows = Math.max(1, Math.floor(MESSAGE_LIMITS.pageBytes / average));
  for (let last = ""; ;) {
    const page = query<PathRow & { parent_id: string | null }>(SESSION_PAGE, scope.id, last, pageRows);
    for (const row of page) nodes.set(row.id, { parentId: row.parent_id, stored: readable(row) });
    if (nodes.size > path.count) return undefined;
    if (page.length < pageRows) return inOrder(nodes, path);
    last = page.at(-1)?.id ?? last;
  }
}

function inOrder(
  nodes: ReadonlyMap<string, Node>,
  { id: leafId, count, bytes }: PathSize
): PathWindow | undefined {
  const newestFirst: StoredMessage[] = [];
  let walked = 0;
  for (let id: string | null = leafId; id !== null && walked <= nodes.size;) {
    const node: Node | undefined = nodes.get(id);
    if (!node) break;
    newestFirst.push(...node.stored);
    walked += 1;
    id = node.parentId;
  }
  if (walked !== nodes.size) return undefined;
  return { rows: newestFirst.toReversed(), count, bytes, olderId: null };
}

function hasRowid(query: Sql["exec"]): boolean {
  try {
    query(HAS_ROWID);
    return true;
  } catch {
    return false;
  }
}
