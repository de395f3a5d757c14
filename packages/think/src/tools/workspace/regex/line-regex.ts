/** The search pattern of `grep`: what the model asks for, as something that finds lines in bounded time. */
import { errorText } from "../../../shared/errors/error-text";
import { compileRegex } from "./compile-regex";
import { LineMatcher } from "./line-matcher";
import { UnsupportedRegex, parseRegex } from "./parse-regex";

export interface LineRegexOptions {
  readonly pattern: string;
  /** Take the pattern as plain text. */
  readonly fixedString: boolean;
  readonly caseSensitive: boolean;
}

export type LineRegexResult =
  | { readonly ok: true; readonly matcher: LineMatcher }
  | { readonly ok: false; readonly error: string };

/** Compiles a pattern. Time to search with it is proportional to the text, whatever the pattern. */
export function lineRegex(options: LineRegexOptions): LineRegexResult {
  const source = options.fixedString
    ? options.pattern.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")
    : options.pattern;
  try {
    // The platform's parser is the judge of the syntax; its (backtracking) matcher is never run.
    void new RegExp(source);
  } catch (error) {
    return {
      ok: false,
      error: `Invalid regex: ${errorText(error)}. Fix it, or set fixedString to search for plain text.`
    };
  }
  try {
    return { ok: true, matcher: new LineMatcher(compileRegex(parseRegex(source), !options.caseSensitive)) };
  } catch (error) {
    if (error instanceof UnsupportedRegex) return { ok: false, error: error.message };
    throw error;
  }
}
