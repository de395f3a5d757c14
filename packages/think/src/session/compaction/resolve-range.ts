/**
 * From what a compaction function returned to the range that is stored. Pure; called by the compactor with the history as it is now,
 * which may have changed while a model wrote the summary.
 *
 * I1. Both ends are stored messages: a summary's id stands for the range behind it.
 * I2. A range that reaches a summary, or lies after one, begins where the first of them begins, so the new overlay supersedes them.
 * I3. The range shrinks rather than separate a tool call from its result.
 */
import type { UIMessage } from "ai";
import { isRecord } from "../../shared/json";
import { alignBoundaryBackward, alignBoundaryForward } from "./boundaries";
import type { CompactResult } from "./compact-types";
import { summaryId, type StoredCompaction } from "./overlay";
import { boundSummary } from "./summary-prompt";

export interface ResolvedRange extends CompactResult {
  /** Messages of the history that the summary stands for, a summary counted as one. */
  readonly replaced: number;
}

/** Null when the function had nothing to do, or named messages that are not in the history. */
export function resolveRange(
  proposed: unknown,
  history: readonly UIMessage[],
  compactions: readonly StoredCompaction[]
): ResolvedRange | null {
  if (!isCompactResult(proposed)) return null;
  const summary = boundSummary(proposed.summary);
  const lastProposed = history.findIndex(({ id }) => id === proposed.toMessageId);
  if (summary === "" || lastProposed === -1) return null;

  const bySummary = new Map(compactions.map((compaction) => [summaryId(compaction.id), compaction]));
  const firstSummary = history.findIndex(({ id }) => bySummary.has(id));
  const firstProposed = history.findIndex(({ id }) => id === proposed.fromMessageId);
  const first = alignBoundaryForward(history, startOf(firstProposed, firstSummary, lastProposed));
  const end = alignBoundaryBackward(history, lastProposed + 1);
  const from = history[first];
  const to = history[end - 1];
  if (first >= end || from === undefined || to === undefined) return null;
  return {
    fromMessageId: bySummary.get(from.id)?.fromMessageId ?? from.id,
    toMessageId: bySummary.get(to.id)?.toMessageId ?? to.id,
    summary,
    replaced: end - first
  };
}

/** Position of the first message; beyond the end when there is none. A start that is unknown is one that a summary already covers. */
function startOf(proposed: number, summary: number, last: number): number {
  const candidates = [proposed, summary].filter((position) => position !== -1 && position <= last);
  return candidates.length === 0 ? Infinity : Math.min(...candidates);
}

/** The function is the author's, and not all authors have a type checker. */
function isCompactResult(value: unknown): value is CompactResult {
  return (
    isRecord(value) &&
    typeof value.fromMessageId === "string" &&
    typeof value.toMessageId === "string" &&
    typeof value.summary === "string"
  );
}
