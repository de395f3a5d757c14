/**
 * Shrinks a JSON value to a number of characters and keeps its outer shape: a string stays a string, an array an array, an object
 * an object. Used for tool outputs of messages that are too large for their row.
 *
 * I1. The JSON of the result has at most `budget` characters (for budgets of 100 and more).
 * I2. A value that fits is returned as it is.
 */
import { isRecord } from "../shared/json";
import { MESSAGE_LIMITS } from "../shared/limits";

/** Members up to this many characters of JSON are kept before large ones share what is left. */
const SMALL = 80;
/** Less than this is not worth a cut value: the marker alone would fill it. */
const LEAST = 60;

/** The value, cut to `budget` characters of JSON. */
export function compactValue(value: unknown, budget: number): unknown {
  return compact(value, budget, 1);
}

function compact(value: unknown, budget: number, depth: number): unknown {
  const size = sizeOf(value);
  if (size <= budget) return value;
  if (typeof value === "string") return cutString(value, budget);
  const isContainer = Array.isArray(value) || isRecord(value);
  if (!isContainer || depth > MESSAGE_LIMITS.outputDepth) return `[truncated ${size} chars]`;
  return Array.isArray(value)
    ? compactArray(value, budget, depth)
    : compactRecord(value, budget, depth, size);
}

function cutString(value: string, budget: number): string {
  const marker = `… [truncated ${value.length} chars]`;
  let kept = value.slice(0, Math.max(0, budget - marker.length - 2));
  // Escapes can make the JSON longer than the string.
  while (kept.length > 0 && sizeOf(kept + marker) > budget)
    kept = kept.slice(0, Math.floor(kept.length * 0.8));
  return kept.toWellFormed() + marker;
}

function compactArray(items: readonly unknown[], budget: number, depth: number): unknown[] {
  const marker = (dropped: number) => `[truncated ${dropped} items]`;
  const kept: unknown[] = [];
  // Brackets, the marker and its comma.
  let left = budget - sizeOf(marker(items.length)) - 3;
  for (const item of items) {
    const small = compact(item, Math.min(left - 1, Math.max(LEAST, Math.floor(budget / 3))), depth + 1);
    const size = sizeOf(small) + 1;
    if (size > left) break;
    kept.push(small);
    left -= size;
  }
  return kept.length === items.length ? kept : [...kept, marker(items.length - kept.length)];
}

function compactRecord(
  record: Record<string, unknown>,
  budget: number,
  depth: number,
  size: number
): Record<string, unknown> {
  const tail = { __truncated: true, __truncatedChars: size };
  const entries = Object.entries(record).map(([key, value]) => ({ key, value, size: entrySize(key, value) }));
  const large = entries.filter((entry) => entry.size > SMALL);
  const smallTotal = entries.reduce((sum, entry) => sum + (entry.size > SMALL ? 0 : entry.size), 0);
  let left = budget - sizeOf(tail);
  const share = Math.floor((left - smallTotal) / Math.max(1, large.length));
  const kept: [string, unknown][] = [];
  for (const entry of entries) {
    const limit = entry.size > SMALL ? Math.min(share, left) : left;
    const room = limit - entrySize(entry.key, 0) + 1;
    const value = room < LEAST && entry.size > limit ? undefined : compact(entry.value, room, depth + 1);
    const cost = entrySize(entry.key, value);
    if (value === undefined || cost > left) continue;
    kept.push([entry.key, value]);
    left -= cost;
  }
  if (kept.length === entries.length) return Object.fromEntries(kept);
  if (kept.length === 0) return { ...tail, note: "The value was too large to store." };
  return { ...Object.fromEntries(kept), ...tail };
}

/** Characters of one member with its comma. */
function entrySize(key: string, value: unknown): number {
  return JSON.stringify(key).length + sizeOf(value) + 2;
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
