/**
 * Puts summaries in the place of the messages they stand for. Pure; called wherever a path is read for people or models. Stored messages
 * are never touched, so deleting an overlay undoes it.
 *
 * The start of a range is an ancestor of its end (or the same message), so an overlay applies to a path exactly when both ends are on it.
 *
 * I1. Ranges never overlap: from the leaf towards the root, the first message that ends a range takes the whole range; what lies inside
 *     vanishes. An overlay whose end is on another branch does not hide an older one that is on this path.
 * I2. Messages outside the ranges are the same objects in the same order.
 */
import type { UIMessage } from "ai";
import { COMPACTION_PREFIX } from "./boundaries";

export interface StoredCompaction {
  readonly id: string;
  readonly fromMessageId: string;
  readonly toMessageId: string;
  readonly summary: string;
  /** Milliseconds since 1970; older databases know whole seconds only. */
  readonly createdAt: number;
}

/** Providers that allow one leading system message refuse a second one in mid-history. */
const SUMMARY_ROLE = "assistant" satisfies UIMessage["role"];

export function applyOverlays(
  path: readonly UIMessage[],
  compactions: readonly StoredCompaction[]
): UIMessage[] {
  if (compactions.length === 0) return [...path];
  const positions = new Map(path.map(({ id }, index) => [id, index]));
  const byEnd = newestByEnd(compactions, positions);
  const result: UIMessage[] = [];
  for (let index = path.length - 1; index >= 0; index -= 1) {
    const message = path[index];
    if (message === undefined) continue;
    const overlay = byEnd.get(message.id);
    result.push(overlay === undefined ? message : summaryMessage(overlay));
    if (overlay !== undefined) index = positions.get(overlay.fromMessageId) ?? index;
  }
  return result.toReversed();
}

/** The id under which a summary is seen. */
export function summaryId(compactionId: string): string {
  return `${COMPACTION_PREFIX}${compactionId}`;
}

/** A summary as the message that people and models see. It has no row. */
export function summaryMessage({ id, summary }: StoredCompaction): UIMessage {
  return { id: summaryId(id), role: SUMMARY_ROLE, parts: [{ type: "text", text: summary }] };
}

/** Overlays that apply to the path, by the message that ends them; the newest where several end. */
function newestByEnd(
  compactions: readonly StoredCompaction[],
  positions: ReadonlyMap<string, number>
): Map<string, StoredCompaction> {
  const byEnd = new Map<string, StoredCompaction>();
  for (const compaction of compactions) {
    const from = positions.get(compaction.fromMessageId);
    const to = positions.get(compaction.toMessageId);
    if (from === undefined || to === undefined || from > to) continue;
    const other = byEnd.get(compaction.toMessageId);
    if (other === undefined || isNewer(compaction, other)) byEnd.set(compaction.toMessageId, compaction);
  }
  return byEnd;
}

/** Ties are broken by id, so that every reader sees the same one. */
export function isNewer(left: StoredCompaction, right: StoredCompaction): boolean {
  return left.createdAt > right.createdAt || (left.createdAt === right.createdAt && left.id > right.id);
}
