/**
 * A 53-bit hash of a text (the cyrb53 scheme): to notice that a text is the one seen before without keeping it. Not for secrets.
 */
export function textHash(text: string): string {
  return textHash53(text).toString(36);
}

/** The same as a non-negative integer below 2^53. */
export function textHash53(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let position = 0; position < text.length; position += 1) {
    const unit = text.charCodeAt(position);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return 4_294_967_296 * (0x1fffff & low) + (high >>> 0);
}
