/** Sets of UTF-16 code units as sorted, disjoint ranges, and the case rule of JavaScript regular expressions. Pure. */

/** An inclusive range of code units. */
export type Range = readonly [low: number, high: number];
/** Sorted and disjoint. */
export type CharSet = readonly Range[];

export const MAX_CODE_UNIT = 0xffff;

/** Sorts and joins ranges. */
export function charSet(ranges: readonly Range[]): CharSet {
  const joined: [number, number][] = [];
  for (const [low, high] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const last = joined.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else joined.push([low, high]);
  }
  return joined;
}

/** Every code unit that is not in the set. */
export function complement(set: CharSet): CharSet {
  const rest: Range[] = [];
  let next = 0;
  for (const [low, high] of set) {
    if (low > next) rest.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= MAX_CODE_UNIT) rest.push([next, MAX_CODE_UNIT]);
  return rest;
}

function of(text: string): Range[] {
  return Array.from(text, (char): Range => [char.charCodeAt(0), char.charCodeAt(0)]);
}

export const digits: CharSet = [[0x30, 0x39]];
export const wordChars: CharSet = charSet([...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]);
export const blanks: CharSet = charSet([
  [0x09, 0x0d],
  [0x2000, 0x200a],
  ...of(" \u00A0\u1680\u2028\u2029\u202F\u205F\u3000\uFEFF")
]);
/** What `.` matches. */
export const anyButLineEnd: CharSet = complement(charSet(of("\n\r\u2028\u2029")));

let foldTable: Uint16Array | undefined;

/**
 * The representative of each code unit when case is ignored: its upper case, where that is one code unit and does not
 * move a non-ASCII character into ASCII. Built once, on first use.
 */
export function caseFolding(): Uint16Array {
  if (foldTable !== undefined) return foldTable;
  const table = new Uint16Array(MAX_CODE_UNIT + 1);
  for (let code = 0; code <= MAX_CODE_UNIT; code++) {
    const upper = String.fromCharCode(code).toUpperCase();
    const folded = upper.length === 1 ? upper.charCodeAt(0) : code;
    table[code] = code >= 0x80 && folded < 0x80 ? code : folded;
  }
  foldTable = table;
  return table;
}

/** The representatives of a set. */
export function foldSet(set: CharSet): CharSet {
  const table = caseFolding();
  const folded: [number, number][] = [];
  for (const [low, high] of set) {
    for (let code = low; code <= high; code++) {
      const to = table[code] ?? code;
      const last = folded.at(-1);
      if (last !== undefined && to === last[1] + 1) last[1] = to;
      else if (last === undefined || to < last[0] || to > last[1]) folded.push([to, to]);
    }
  }
  return charSet(folded);
}
