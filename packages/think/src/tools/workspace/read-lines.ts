/**
 * The numbered, bounded view of a text that `read` returns. Works on pieces, so that a file too large for memory can be
 * streamed through it. Pure.
 */
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";

export interface LineRange {
  /** First line, from 1. Default: 1. */
  readonly offset?: number | undefined;
  /** Number of lines. Default: all. */
  readonly limit?: number | undefined;
}

export interface LineView {
  readonly content: string;
  readonly totalLines: number;
  /** The last line that is shown, or would be if the range were not empty. */
  readonly toLine: number;
}

/** Collects the lines of a range. Call `push` with consecutive pieces, then `end`. */
export class LineCollector {
  readonly #first: number;
  readonly #last: number;
  readonly #shown: string[] = [];
  #chars = 0;
  #line = 1;
  /** The current line, up to one character more than is ever shown. */
  #current = "";
  #full = false;

  constructor(range: LineRange) {
    this.#first = range.offset ?? 1;
    this.#last = range.limit === undefined ? Number.POSITIVE_INFINITY : this.#first - 1 + range.limit;
  }

  push(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#extend(text, from, end);
      this.#finishLine();
      this.#line++;
      from = end + 1;
    }
    this.#extend(text, from, text.length);
  }

  end(): LineView {
    this.#finishLine();
    const totalLines = this.#line;
    const wantedLast = Math.min(this.#last, totalLines);
    const shownLast = this.#first - 1 + this.#shown.length;
    const dropped = Math.max(0, wantedLast - shownLast);
    if (this.#first > totalLines || dropped === 0) {
      return { content: this.#shown.join("\n"), totalLines, toLine: wantedLast };
    }
    const note = `... (${dropped} more lines truncated; read on with offset ${shownLast + 1})`;
    return { content: [...this.#shown, note].join("\n"), totalLines, toLine: shownLast };
  }

  #wanted(): boolean {
    return !this.#full && this.#line >= this.#first && this.#line <= this.#last;
  }

  #extend(text: string, from: number, to: number): void {
    const room = WORKSPACE_TOOL_LIMITS.lineChars + 1 - this.#current.length;
    if (room > 0 && this.#wanted()) this.#current += text.slice(from, Math.min(to, from + room));
  }

  #finishLine(): void {
    const text = this.#current;
    this.#current = "";
    if (!this.#wanted()) return;
    const { lineChars, readLines, readChars } = WORKSPACE_TOOL_LIMITS;
    const cut = text.length > lineChars ? `${text.slice(0, lineChars).toWellFormed()}... (truncated)` : text;
    const numbered = `${this.#line}\t${cut}`;
    if (
      this.#shown.length === readLines ||
      (this.#chars + numbered.length > readChars && this.#shown.length > 0)
    ) {
      this.#full = true;
      return;
    }
    this.#chars += numbered.length + 1;
    this.#shown.push(numbered);
  }
}

/** The view of a text that is already in memory. */
export function viewLines(text: string, range: LineRange): LineView {
  const collector = new LineCollector(range);
  collector.push(text);
  return collector.end();
}
