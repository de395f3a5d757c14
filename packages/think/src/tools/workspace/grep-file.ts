/** The matches of one file, bounded and formatted. Pure. */
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";
import type { LineMatcher } from "./regex/line-matcher";

/** `path:line: text`, or the hit among its neighbours when context was asked for. */
export type GrepMatch = string | { readonly file: string; readonly line: number; readonly context: string };

export interface GrepTarget {
  readonly path: string;
  readonly text: string;
  readonly matcher: LineMatcher;
  readonly contextLines: number;
}

/** Takes a match; false when there is no room for another. */
export type MatchSink = (match: GrepMatch) => boolean;

/** Searches line by line, at most one match per line. Returns the number of matches. */
export function grepFile(target: GrepTarget, accept: MatchSink): number {
  const { text } = target;
  let matches = 0;
  let line = 1;
  for (let start = 0; start <= text.length; line++) {
    const newline = text.indexOf("\n", start);
    const next = newline === -1 ? text.length + 1 : newline + 1;
    // `$` should also find the end of a line that ends with CRLF.
    const end = text[next - 2] === "\r" && next - 2 >= start ? next - 2 : next - 1;
    const found = target.matcher.search(text, start, end);
    if (found !== -1) {
      matches++;
      if (!accept(describe(target, line, { start, end, found }))) break;
    }
    start = next;
  }
  return matches;
}

interface Hit {
  readonly start: number;
  readonly end: number;
  /** Where the match ends. */
  readonly found: number;
}

function describe(target: GrepTarget, line: number, hit: Hit): GrepMatch {
  const shown = excerpt(target.text, hit);
  if (target.contextLines === 0) return `${target.path}:${line}: ${shown}`;
  const before = neighbours(target.text, hit.start, -target.contextLines);
  const after = neighbours(target.text, hit.end, target.contextLines);
  const first = line - before.length;
  const context = [
    ...before.map((text, index) => `  ${first + index}\t${text}`),
    `> ${line}\t${shown}`,
    ...after.map((text, index) => `  ${line + 1 + index}\t${text}`)
  ].join("\n");
  return { file: target.path, line, context };
}

/** The line, or the part of a long one around the end of the match. */
function excerpt(text: string, hit: Hit): string {
  const room = WORKSPACE_TOOL_LIMITS.grepLineChars;
  if (hit.end - hit.start <= room) return text.slice(hit.start, hit.end);
  const from = Math.max(hit.start, Math.min(hit.found - Math.floor(room / 2), hit.end - room));
  const part = text.slice(from, from + room).toWellFormed();
  return `${from > hit.start ? "..." : ""}${part}${from + room < hit.end ? "... (truncated)" : ""}`;
}

/** Up to `count` lines after a line's end, or (negative) before a line's start. */
function neighbours(text: string, position: number, count: number): string[] {
  const lines: string[] = [];
  let edge = position;
  while (lines.length < Math.abs(count)) {
    if (count < 0) {
      if (edge === 0) break;
      const start = edge < 2 ? 0 : text.lastIndexOf("\n", edge - 2) + 1;
      lines.unshift(cut(text, start, edge - 1));
      edge = start;
    } else {
      const newline = text.indexOf("\n", edge);
      if (newline === -1) break;
      const end = text.indexOf("\n", newline + 1);
      edge = end === -1 ? text.length : end;
      lines.push(cut(text, newline + 1, edge));
    }
  }
  return lines;
}

function cut(text: string, start: number, end: number): string {
  const stop = end > start && text[end - 1] === "\r" ? end - 1 : end;
  return excerpt(text, { start, end: stop, found: start });
}
