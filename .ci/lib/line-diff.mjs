// A readable line-by-line difference for reports. Pure.

/**
 * The longest common subsequence's lengths, from the end.
 *
 * @param {readonly string[]} before
 * @param {readonly string[]} after
 */
function commonLengths(before, after) {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    const row = /** @type {Uint32Array} */ (table[i]);
    const below = /** @type {Uint32Array} */ (table[i + 1]);
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return table;
}

/**
 * @param {string} before
 * @param {string} after
 * @returns {string[]} Changed lines only, each with its line number: `12 - old`, `12 + new`.
 */
export function lineDiff(before, after) {
  const left = before.split("\n");
  const right = after.split("\n");
  const common = commonLengths(left, right);
  /** @type {string[]} */
  const changes = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      i++;
      j++;
    } else if (
      j >= right.length ||
      (i < left.length && (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))
    ) {
      changes.push(`${i + 1} - ${left[i]}`);
      i++;
    } else {
      changes.push(`${j + 1} + ${right[j]}`);
      j++;
    }
  }
  return changes;
}
