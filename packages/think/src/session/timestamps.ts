/**
 * Times in stored rows. Ours are milliseconds since 1970; the published package writes seconds, or UTC text as SQLite prints it. A column
 * that was declared as text turns our numbers into digits.
 */

/** Above it a number counts milliseconds: in seconds it would be the year 5138. */
export const LARGEST_SECONDS = 100_000_000_000;

export function toMillis(stored: string | number | null | undefined): number {
  if (typeof stored === "number") return Math.round(stored > LARGEST_SECONDS ? stored : stored * 1000);
  if (typeof stored !== "string") return 0;
  if (/^\d+(?:\.\d+)?$/.test(stored)) return toMillis(Number(stored));
  const iso = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?$/.test(stored)
    ? `${stored.replace(" ", "T")}Z`
    : stored;
  const time = Date.parse(iso);
  return Number.isNaN(time) ? 0 : time;
}
