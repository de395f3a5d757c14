/**
 * Reads the syntax of JavaScript regular expressions (without flags `u` and `v`) into a tree. Look-around and
 * back-references are refused: they cannot be matched in linear time, which is the point of this engine.
 *
 * The caller has already let the platform's own parser accept the pattern, so this one need not report syntax errors.
 */
import {
  anyButLineEnd,
  blanks,
  charSet,
  complement,
  digits,
  wordChars,
  type CharSet,
  type Range
} from "./char-set";

export type RegexNode =
  | { readonly kind: "set"; readonly set: CharSet; readonly negated: boolean }
  | { readonly kind: "sequence"; readonly nodes: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly nodes: readonly RegexNode[] }
  | { readonly kind: "repeat"; readonly node: RegexNode; readonly min: number; readonly max: number }
  | { readonly kind: "assert"; readonly at: Assertion };

/** A condition between two characters. */
export type Assertion = "line-start" | "line-end" | "word-boundary" | "no-word-boundary";

/** A pattern that is valid, but not for this engine. The message is a sentence for the model. */
export class UnsupportedRegex extends Error {
  override readonly name = "UnsupportedRegex";
}

const MAX_NESTING = 200;

const escapes: Readonly<Record<string, CharSet>> = {
  d: digits,
  D: complement(digits),
  w: wordChars,
  W: complement(wordChars),
  s: blanks,
  S: complement(blanks)
};

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

export function parseRegex(pattern: string): RegexNode {
  return new Parser(pattern).parse();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #nesting = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): RegexNode {
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new UnsupportedRegex("The regex has a closing bracket too many.");
    return node;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #choice(): RegexNode {
    const nodes = [this.#sequence()];
    while (this.#take("|")) nodes.push(this.#sequence());
    return { kind: "choice", nodes };
  }

  #sequence(): RegexNode {
    const nodes: RegexNode[] = [];
    while (this.#at < this.#text.length && this.#peek() !== "|" && this.#peek() !== ")") {
      nodes.push(this.#quantified(this.#atom()));
    }
    return { kind: "sequence", nodes };
  }

  #quantified(node: RegexNode): RegexNode {
    const bounds = this.#quantifier();
    if (bounds === undefined) return node;
    // A lazy quantifier finds the same lines.
    this.#take("?");
    return { kind: "repeat", node, ...bounds };
  }

  #quantifier(): { readonly min: number; readonly max: number } | undefined {
    if (this.#take("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#take("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#take("?")) return { min: 0, max: 1 };
    const counted = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#text.slice(this.#at, this.#at + 40));
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    if (counted[2] === undefined) return { min, max: min };
    return { min, max: counted[3] ? Number(counted[3]) : Number.POSITIVE_INFINITY };
  }

  #atom(): RegexNode {
    if (this.#take("^")) return { kind: "assert", at: "line-start" };
    if (this.#take("$")) return { kind: "assert", at: "line-end" };
    if (this.#take(".")) return set(anyButLineEnd);
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return this.#class();
    if (this.#take("\\")) return this.#escape();
    return literal(this.#text.charCodeAt(this.#at++));
  }

  #group(): RegexNode {
    if (this.#take("?") && !this.#take(":")) {
      const name = /^<[^=!>][^>]*>/.exec(this.#text.slice(this.#at, this.#at + 200));
      if (name === null)
        throw new UnsupportedRegex(
          "Look-ahead, look-behind and inline flags are not supported; search for a simpler pattern."
        );
      this.#at += name[0].length;
    }
    if (++this.#nesting > MAX_NESTING)
      throw new UnsupportedRegex("The regex is nested too deeply; simplify it.");
    const node = this.#choice();
    this.#nesting--;
    this.#take(")");
    return node;
  }

  #escape(): RegexNode {
    if (this.#take("b")) return { kind: "assert", at: "word-boundary" };
    if (this.#take("B")) return { kind: "assert", at: "no-word-boundary" };
    if (/[1-9k]/.test(this.#peek())) {
      throw new UnsupportedRegex("Back-references are not supported; search for a simpler pattern.");
    }
    const escaped = this.#escapedSet();
    return escaped === undefined ? literal(this.#escapedCode()) : set(escaped);
  }

  #escapedSet(): CharSet | undefined {
    if (/^[pP]\{/.test(this.#text.slice(this.#at, this.#at + 2))) {
      throw new UnsupportedRegex("Unicode property classes are not supported; list the characters in [...].");
    }
    const found = escapes[this.#peek()];
    if (found !== undefined) this.#at++;
    return found;
  }

  /** The code unit that the escape after a backslash stands for. */
  #escapedCode(): number {
    const hex = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(this.#text.slice(this.#at, this.#at + 5));
    if (hex !== null) {
      this.#at += hex[0].length;
      return Number.parseInt(hex[1] ?? hex[2] ?? "", 16);
    }
    const control = /^c([a-zA-Z])/.exec(this.#text.slice(this.#at, this.#at + 2));
    if (control !== null) {
      this.#at += 2;
      return (control[1] ?? "").charCodeAt(0) % 32;
    }
    const char = this.#peek();
    this.#at++;
    return controls[char] ?? char.charCodeAt(0);
  }

  #class(): RegexNode {
    const negated = this.#take("^");
    const ranges: Range[] = [];
    while (this.#at < this.#text.length && !this.#take("]")) {
      const low = this.#classMember();
      const ranged = this.#peek() === "-" && this.#text.charAt(this.#at + 1) !== "]";
      if (typeof low !== "number" || !ranged) {
        ranges.push(...asRanges(low));
        continue;
      }
      this.#at++;
      const high = this.#classMember();
      // `[a-\d]` is the three members a, - and \d.
      if (typeof high === "number") ranges.push([low, high]);
      else ranges.push(...asRanges(low), ...asRanges(0x2d), ...high);
    }
    return { kind: "set", set: charSet(ranges), negated };
  }

  #classMember(): number | CharSet {
    if (!this.#take("\\")) return this.#text.charCodeAt(this.#at++);
    if (this.#take("b")) return 8;
    return this.#escapedSet() ?? this.#escapedCode();
  }
}

function asRanges(member: number | CharSet): CharSet {
  return typeof member === "number" ? [[member, member]] : member;
}

function set(members: CharSet): RegexNode {
  return { kind: "set", set: members, negated: false };
}

function literal(code: number): RegexNode {
  return set([[code, code]]);
}
