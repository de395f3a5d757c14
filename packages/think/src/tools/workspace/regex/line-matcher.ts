/**
 * Runs a program over lines in linear time. Instead of backtracking it follows all alternatives at once, and remembers
 * each combination of alternatives as a state, so that text mostly costs one table look-up per character.
 *
 * Invariants
 * 1. A state is what was reached after a character, before conditions (`^`, `\b`, ...) are judged: those need the
 *    next character too.
 * 2. The remembered states are bounded; when full they are forgotten and built again.
 * 3. Building states is paid from a budget; a pattern that needs a new state for nearly every character ends with
 *    `UnsupportedRegex`.
 */
import { MAX_CODE_UNIT, caseFolding, wordChars, type CharSet } from "./char-set";
import type { RegexProgram } from "./compile-regex";
import { UnsupportedRegex, type Assertion } from "./parse-regex";

/** Remembered transitions, over all states; 4 bytes each. */
const MAX_REMEMBERED = 1_000_000;

/** Instructions visited while building states, over the life of a matcher: about a second. */
const MAX_VISITS = 8_000_000;

type Neighbour = "none" | "word" | "other";

interface State {
  readonly positions: readonly number[];
  readonly previous: Neighbour;
  /** By class of the next character: a state number, or one of the two below. */
  readonly next: Int32Array;
  atEnd: boolean | undefined;
}

const UNKNOWN = -1;
const MATCHED = -2;

export class LineMatcher {
  readonly #program: RegexProgram;
  readonly #classes: CharacterClasses;
  #states: State[] = [];
  #numbers = new Map<string, number>();
  #visits = 0;

  constructor(program: RegexProgram) {
    this.#program = program;
    this.#classes = new CharacterClasses(program);
  }

  /** Where the first match in `text` between `start` and `end` is complete, or -1. May throw `UnsupportedRegex`. */
  search(text: string, start: number, end: number): number {
    let current = this.#enter([0], "none");
    const { table } = this.#classes;
    for (let index = start; index < end; index++) {
      const characterClass = table[text.charCodeAt(index)] ?? 0;
      let next = this.#states[current]?.next[characterClass] ?? UNKNOWN;
      if (next === UNKNOWN) next = this.#advance(current, characterClass);
      if (next === MATCHED) return index;
      current = next;
    }
    return this.#matchesAtEnd(current) ? end : -1;
  }

  #matchesAtEnd(number: number): boolean {
    const state = this.#states[number];
    if (state === undefined) return false;
    state.atEnd ??= this.#reach(state, "none") === undefined;
    return state.atEnd;
  }

  /** Builds and remembers one transition. */
  #advance(number: number, characterClass: number): number {
    const state = this.#states[number];
    if (state === undefined) return MATCHED;
    const following: Neighbour = this.#classes.isWord[characterClass] === true ? "word" : "other";
    const reached = this.#reach(state, following);
    if (reached === undefined) {
      state.next[characterClass] = MATCHED;
      return MATCHED;
    }
    // Position 0 again: a match may begin at every character.
    const positions = [0];
    for (const position of reached) {
      if (this.#classes.accepts(position, characterClass)) positions.push(position + 1);
    }
    const target = this.#enter(
      positions.toSorted((left, right) => left - right),
      following
    );
    // `#enter` may have forgotten all states, this one included; then writing here is harmless.
    if (this.#states[number] === state) state.next[characterClass] = target;
    return target;
  }

  /** All instructions reachable without a character, or undefined when the match is one of them. */
  #reach(state: State, following: Neighbour): Set<number> | undefined {
    const { instructions } = this.#program;
    const reached = new Set<number>();
    const pending = [...state.positions];
    for (let position = pending.pop(); position !== undefined; position = pending.pop()) {
      if (reached.has(position)) continue;
      reached.add(position);
      if (++this.#visits > MAX_VISITS) {
        throw new UnsupportedRegex(
          "The regex is too expensive for this text; use smaller counts or fewer alternatives."
        );
      }
      const instruction = instructions[position];
      if (instruction?.op === "match") return undefined;
      if (instruction?.op === "jump") pending.push(...instruction.to);
      if (instruction?.op === "assert" && holds(instruction.at, state.previous, following))
        pending.push(position + 1);
    }
    return reached;
  }

  #enter(positions: readonly number[], previous: Neighbour): number {
    const key = `${previous}:${positions.join(",")}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if ((this.#states.length + 1) * this.#classes.count > MAX_REMEMBERED) {
      this.#states = [];
      this.#numbers = new Map();
    }
    const next = new Int32Array(this.#classes.count).fill(UNKNOWN);
    const number = this.#states.push({ positions, previous, next, atEnd: undefined }) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}

function holds(at: Assertion, previous: Neighbour, following: Neighbour): boolean {
  switch (at) {
    case "line-start":
      return previous === "none";
    case "line-end":
      return following === "none";
    case "word-boundary":
      return (previous === "word") !== (following === "word");
    case "no-word-boundary":
      return (previous === "word") === (following === "word");
  }
}

/** Groups the code units that no instruction tells apart. */
class CharacterClasses {
  readonly count: number;
  /** Code unit to class. */
  readonly table = new Uint16Array(MAX_CODE_UNIT + 1);
  /** Class to whether `\w` holds. */
  readonly isWord: readonly boolean[];
  readonly #accepting: readonly (ReadonlySet<number> | undefined)[];

  constructor(program: RegexProgram) {
    const starts = boundaries(program);
    this.count = starts.length * 2;
    const fold = program.ignoreCase ? caseFolding() : undefined;
    const groups = groupOf(starts);
    for (let code = 0; code <= MAX_CODE_UNIT; code++) {
      this.table[code] = (groups[fold?.[code] ?? code] ?? 0) * 2;
    }
    // The word flag belongs to the real character, the group to its folded one: hence two classes per group.
    for (const [low, high] of wordChars) {
      for (let code = low; code <= high; code++) this.table[code] = (this.table[code] ?? 0) + 1;
    }
    this.isWord = Array.from({ length: this.count }, (_, index) => index % 2 === 1);
    const accepted = new Map<CharSet, ReadonlySet<number>>();
    this.#accepting = program.instructions.map((instruction) => {
      if (instruction.op !== "set") return undefined;
      const known = accepted.get(instruction.set) ?? acceptedGroups(instruction.set, starts);
      accepted.set(instruction.set, known);
      return known;
    });
  }

  accepts(position: number, characterClass: number): boolean {
    return this.#accepting[position]?.has(characterClass >> 1) ?? false;
  }
}

/** The code units at which a set begins or ends, sorted; the first is 0. */
function boundaries(program: RegexProgram): readonly number[] {
  const starts = new Set([0]);
  for (const instruction of program.instructions) {
    if (instruction.op !== "set") continue;
    for (const [low, high] of instruction.set) starts.add(low).add(high + 1);
  }
  starts.delete(MAX_CODE_UNIT + 1);
  return [...starts].toSorted((left, right) => left - right);
}

function groupOf(starts: readonly number[]): Uint16Array {
  const groups = new Uint16Array(MAX_CODE_UNIT + 1);
  for (const [group, start] of starts.entries()) groups.fill(group, start, starts[group + 1]);
  return groups;
}

function acceptedGroups(set: CharSet, starts: readonly number[]): ReadonlySet<number> {
  const accepted = new Set<number>();
  let group = 0;
  for (const [low, high] of set) {
    while (group < starts.length && (starts[group] ?? 0) < low) group++;
    while (group < starts.length && (starts[group] ?? 0) <= high) accepted.add(group++);
  }
  return accepted;
}
