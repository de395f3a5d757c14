/**
 * JSON from outside. `parseJson` never throws, refuses prototype keys and bounds the nesting; the rest of the
 * code may then treat the value as plain data.
 */
import { LIMITS } from "./limits";

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

const suspiciousKey = /"(?:__proto__|constructor)"\s*:/;

/** Parses hostile JSON text. */
export function parseJson(text: string): JsonResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: "is not valid JSON" };
  }
  if (exceedsDepth(value, LIMITS.jsonDepth)) {
    return { ok: false, reason: `is nested deeper than ${LIMITS.jsonDepth} levels` };
  }
  // The cheap text test spares the walk for practically every honest document.
  if (suspiciousKey.test(text) && hasPrototypeKey(value)) {
    return { ok: false, reason: "contains a prototype key" };
  }
  return { ok: true, value };
}

/**
 * Parses JSON that this package has written itself; undefined for damage. No other checks: what a model said may be nested deeply or
 * use odd keys, and must still come back from storage as it went in.
 */
export function parseStored(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

/** Whether a value is nested more than `left` levels deep. Calls itself no deeper than that. */
export function exceedsDepth(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (left === 0) return true;
  return children(value).some((child) => exceedsDepth(child, left - 1));
}

function hasPrototypeKey(value: unknown): boolean {
  if (isRecord(value)) {
    if (Object.hasOwn(value, "__proto__")) return true;
    if (isRecord(value.constructor) && Object.hasOwn(value.constructor, "prototype")) return true;
  }
  return children(value).some(hasPrototypeKey);
}

/** Structural equality of two JSON values; `undefined` members count as absent, as they do in JSON. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => jsonEqual(item, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  return (
    definedKeys(left).length === definedKeys(right).length &&
    definedKeys(left).every((key) => jsonEqual(left[key], right[key]))
  );
}

function definedKeys(record: Record<string, unknown>): string[] {
  return Object.keys(record).filter((key) => record[key] !== undefined);
}
