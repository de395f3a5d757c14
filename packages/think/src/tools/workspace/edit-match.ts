/** Finding the text that an edit wants to replace. Pure. */
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Start positions of a text, overlapping ones included, at most one more than the limit. */
export function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    found.push(at);
    if (found.length > WORKSPACE_TOOL_LIMITS.countedMatches) break;
  }
  return found;
}

/** Places that match when runs of blanks and tabs count as one blank and CRLF as LF. Newlines never collapse. */
export function looseOccurrences(text: string, wanted: string): Span[] {
  const needle = collapse(wanted).text;
  if (needle === "") return [];
  const { text: collapsed, origins } = collapse(text);
  return occurrences(collapsed, needle).map((at) => ({
    start: origins[at] ?? 0,
    end: origins[at + needle.length] ?? text.length
  }));
}

/** The collapsed text and, for each of its characters and its end, where it came from. */
function collapse(text: string): { readonly text: string; readonly origins: Uint32Array } {
  const origins = new Uint32Array(text.length + 1);
  const pieces: string[] = [];
  let length = 0;
  for (const match of text.matchAll(/[ \t]+|\r\n|[^ \t\r]+|\r/g)) {
    const piece = replacementOf(match[0]);
    pieces.push(piece);
    for (let index = 0; index < piece.length; index++) origins[length++] = match.index + index;
  }
  origins[length] = text.length;
  return { text: pieces.join(""), origins: origins.subarray(0, length + 1) };
}

function replacementOf(piece: string): string {
  if (piece === "\r\n") return "\n";
  return piece.startsWith(" ") || piece.startsWith("\t") ? " " : piece;
}

/** The 1-based line of a position. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (
    let index = text.indexOf("\n");
    index !== -1 && index < position;
    index = text.indexOf("\n", index + 1)
  )
    line++;
  return line;
}

export interface NearestLine {
  readonly line: number;
  readonly text: string;
}

/** How alike two lines must be, from 0 to 1, before one is offered as the place that was meant. */
const MIN_LIKENESS = 0.5;
/** Characters of a line that are compared. */
const COMPARED_CHARS = 200;

/** The line most like the first meaningful line of the wanted text, if any is alike at all. */
export function nearestLine(text: string, wanted: string): NearestLine | undefined {
  const target = wanted
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim()
    .slice(0, COMPARED_CHARS);
  if (target === undefined) return undefined;
  const pairs = pairsOf(target);
  let best: NearestLine | undefined;
  let bestLikeness = MIN_LIKENESS;
  const lines = text.split("\n", WORKSPACE_TOOL_LIMITS.comparedLines);
  for (const [index, line] of lines.entries()) {
    const likeness = likenessOf(pairs, pairsOf(line.trim().slice(0, COMPARED_CHARS)));
    if (likeness > bestLikeness) {
      bestLikeness = likeness;
      best = { line: index + 1, text: line };
    }
  }
  return best;
}

function pairsOf(line: string): Set<string> {
  const pairs = new Set<string>();
  const lower = line.toLowerCase();
  for (let index = 0; index < lower.length - 1; index++) pairs.add(lower.slice(index, index + 2));
  return pairs;
}

/** Dice's coefficient over pairs of neighbouring characters. */
function likenessOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size + right.size === 0) return 0;
  let shared = 0;
  for (const pair of right) if (left.has(pair)) shared++;
  return (2 * shared) / (left.size + right.size);
}
