/**
 * Globs without backtracking. A pattern becomes a list of small automata that are run over the path one character at
 * a time, so that no pattern, however hostile, costs more than (pattern length × path length).
 *
 * Syntax, rooted at `/`: `*` and `?` stop at `/`; `**` matches anything; `**` + `/` any depth including none;
 * `[abc]`, `[a-z]`, `[!a]`; `{a,b}` (may nest); `\` makes the next character literal.
 */

/** Longest pattern, in UTF-16 code units. */
const MAX_PATTERN_CHARS = 1024;
/** Most alternatives that braces may unfold to. */
const MAX_ALTERNATIVES = 256;

export interface Glob {
  matches(path: string): boolean;
  /** Every match starts with this text. Ends with `/` unless the pattern has no wildcard at all. */
  readonly prefix: string;
  /** Every match ends with this text; may be empty. */
  readonly suffix: string;
  /**
   * Whether the stock workspace's own `glob` reads the pattern the same way, at a bounded cost. If not, ask it for
   * `prefix` + `**` and filter with `matches`.
   */
  readonly portable: boolean;
}

export type GlobResult =
  | { readonly ok: true; readonly glob: Glob }
  | { readonly ok: false; readonly error: string };

type Token =
  | { readonly kind: "literal"; readonly char: string }
  | { readonly kind: "one" }
  | {
      readonly kind: "class";
      readonly negated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    }
  /** `*`: any run without `/`. */
  | { readonly kind: "star" }
  /** `**`: any run. */
  | { readonly kind: "globstar" }
  /** `**` + `/`, as two states: may be skipped, or consumes at least one character up to a `/`. */
  | { readonly kind: "directories" }
  | { readonly kind: "directoriesBody" };

/** Parses a pattern. Errors are one sentence for the model. */
export function parseGlob(pattern: string): GlobResult {
  if (pattern.length > MAX_PATTERN_CHARS) {
    return {
      ok: false,
      error: `The glob is longer than ${MAX_PATTERN_CHARS} characters; use a simpler one.`
    };
  }
  const rooted = `/${pattern.replace(/^(?:\.?\/+)+/, "")}`;
  const alternatives = expandBraces(rooted);
  if (alternatives === undefined) {
    return {
      ok: false,
      error: `The glob's braces unfold to more than ${MAX_ALTERNATIVES} patterns; use fewer alternatives.`
    };
  }
  const programs = alternatives.map(tokenize);
  const matchers = programs.map(matcher);
  const affixes =
    alternatives.length === 1 && programs[0] !== undefined ? literalAffixes(programs[0]) : undefined;
  return {
    ok: true,
    glob: {
      matches: (path) => matchers.some((matches) => matches(path)),
      prefix: affixes?.prefix ?? directoryPrefix(programs),
      suffix: affixes?.suffix ?? "",
      portable: isPortable(rooted)
    }
  };
}

/** Unfolds `{a,b}` into plain patterns; undefined when there would be too many. */
function expandBraces(pattern: string): string[] | undefined {
  const pending = [pattern];
  const done: string[] = [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const braces = firstBraces(next);
    if (braces === undefined) {
      done.push(next);
    } else {
      const before = next.slice(0, braces.start);
      const after = next.slice(braces.end + 1);
      pending.push(...braces.parts.map((part) => before + part + after));
    }
    if (pending.length + done.length > MAX_ALTERNATIVES) return undefined;
  }
  return done;
}

interface Braces {
  readonly start: number;
  readonly end: number;
  readonly parts: readonly string[];
}

/** The first brace group with a comma; a group without one, or an open one, is literal text. */
function firstBraces(pattern: string): Braces | undefined {
  for (let start = 0; start < pattern.length; start++) {
    if (pattern[start] === "\\") start++;
    else if (pattern[start] === "{") {
      const braces = bracesAt(pattern, start);
      if (braces !== undefined) return braces;
    }
  }
  return undefined;
}

function bracesAt(pattern: string, start: number): Braces | undefined {
  const parts: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let index = start; index < pattern.length; index++) {
    const char = pattern[index];
    if (char === "\\") index++;
    else if (char === "{") depth++;
    else if (char === "," && depth === 1) {
      parts.push(pattern.slice(from, index));
      from = index + 1;
    } else if (char === "}" && --depth === 0) {
      parts.push(pattern.slice(from, index));
      return parts.length > 1 ? { start, end: index, parts } : undefined;
    }
  }
  return undefined;
}

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index] ?? "";
    if (char === "*" && pattern[index + 1] === "*") {
      while (pattern[index + 1] === "*") index++;
      if (pattern[index + 1] === "/") {
        index++;
        tokens.push({ kind: "directories" }, { kind: "directoriesBody" });
      } else tokens.push({ kind: "globstar" });
    } else if (char === "*") tokens.push({ kind: "star" });
    else if (char === "?") tokens.push({ kind: "one" });
    else if (char === "[") {
      const end = classEnd(pattern, index);
      if (end === undefined) tokens.push({ kind: "literal", char });
      else {
        tokens.push(parseClass(pattern.slice(index + 1, end)));
        index = end;
      }
    } else if (char === "\\" && index + 1 < pattern.length) {
      index++;
      tokens.push({ kind: "literal", char: pattern[index] ?? "" });
    } else tokens.push({ kind: "literal", char });
  }
  return tokens;
}

/** A `]` right after `[`, `[!` or `[^` is a member, as in every shell. */
function classEnd(pattern: string, start: number): number | undefined {
  const first = pattern[start + 1] === "!" || pattern[start + 1] === "^" ? start + 2 : start + 1;
  const end = pattern.indexOf("]", first + 1);
  return end === -1 ? undefined : end;
}

function parseClass(body: string): Token {
  const negated = body.startsWith("!") || body.startsWith("^");
  const members = negated ? body.slice(1) : body;
  const ranges: [string, string][] = [];
  for (let index = 0; index < members.length; index++) {
    const low = members[index] ?? "";
    const high = members[index + 2];
    if (members[index + 1] === "-" && high !== undefined) {
      ranges.push([low, high]);
      index += 2;
    } else ranges.push([low, low]);
  }
  return { kind: "class", negated, ranges };
}

/** Compiles one alternative. The matcher keeps its two position lists between calls, so that a match allocates nothing. */
function matcher(tokens: readonly Token[]): (path: string) => boolean {
  const seen = new Int32Array(tokens.length + 1);
  let generation = 0;
  let active: number[] = [];
  let next: number[] = [];

  /** Adds a position and those reachable from it without a character. */
  function reach(start: number, into: number[]): void {
    for (let position = start; seen[position] !== generation;) {
      seen[position] = generation;
      into.push(position);
      const kind = tokens[position]?.kind;
      if (kind === "star" || kind === "globstar") position += 1;
      else if (kind === "directories") position += 2;
    }
  }

  return (path) => {
    generation++;
    active.length = 0;
    reach(0, active);
    for (let index = 0; index < path.length; index++) {
      generation++;
      next.length = 0;
      const char = path.charAt(index);
      for (const position of active) {
        const token = tokens[position];
        if (token === undefined) continue;
        if (staysOn(token, char)) reach(position, next);
        if (movesOn(token, char)) reach(position + 1, next);
      }
      if (next.length === 0) return false;
      [active, next] = [next, active];
    }
    return active.includes(tokens.length);
  };
}

/** Whether the token consumes the character and may consume more. */
function staysOn(token: Token, char: string): boolean {
  return (
    token.kind === "globstar" || token.kind === "directoriesBody" || (token.kind === "star" && char !== "/")
  );
}

/** Whether the token consumes the character as its last one. */
function movesOn(token: Token, char: string): boolean {
  switch (token.kind) {
    case "literal":
      return char === token.char;
    case "one":
      return char !== "/";
    case "class":
      return char !== "/" && inRanges(token.ranges, char) !== token.negated;
    case "directories":
      return true;
    case "directoriesBody":
      return char === "/";
    case "star":
    case "globstar":
      return false;
  }
}

function inRanges(ranges: readonly (readonly [string, string])[], char: string): boolean {
  return ranges.some(([low, high]) => low <= char && char <= high);
}

function literalText(tokens: readonly Token[]): string {
  let text = "";
  for (const token of tokens) {
    if (token.kind !== "literal") break;
    text += token.char;
  }
  return text;
}

function literalAffixes(tokens: readonly Token[]): { prefix: string; suffix: string } {
  const lead = literalText(tokens);
  if (lead.length === tokens.length) return { prefix: lead, suffix: lead };
  const wildcard = tokens.findLastIndex((token) => token.kind !== "literal");
  const suffix = literalText(tokens.slice(wildcard + 1));
  return { prefix: lead.slice(0, lead.lastIndexOf("/") + 1), suffix };
}

/** The deepest directory that all alternatives share. */
function directoryPrefix(programs: readonly (readonly Token[])[]): string {
  const leads = programs.map((tokens) => literalText(tokens));
  const [first = "/", ...others] = leads;
  let length = first.length;
  for (const lead of others) {
    while (!lead.startsWith(first.slice(0, length))) length--;
  }
  return first.slice(0, first.slice(0, length).lastIndexOf("/") + 1) || "/";
}

/**
 * The stock workspace turns a glob into a backtracking regular expression. It agrees with us and stays cheap when
 * there is at most one `**` and few stars, and no escapes, classes or nested braces.
 */
function isPortable(pattern: string): boolean {
  if (/[\\[\]]|\*{3}|\{[^}]*[{(+|]/.test(pattern)) return false;
  const globstars = pattern.match(/\*\*/g)?.length ?? 0;
  const stars = pattern.match(/\*/g)?.length ?? 0;
  return globstars <= 1 && stars - 2 * globstars <= 3;
}
