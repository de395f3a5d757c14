/** Turns a regular expression tree into a small program for `line-matcher.ts`. Pure. */
import { complement, foldSet, type CharSet } from "./char-set";
import { UnsupportedRegex, type Assertion, type RegexNode } from "./parse-regex";

export type Instruction =
  /** Consumes one code unit of the set, then goes to the next instruction. */
  | { readonly op: "set"; readonly set: CharSet }
  /** Goes to all targets at once. */
  | { readonly op: "jump"; readonly to: readonly number[] }
  | { readonly op: "assert"; readonly at: Assertion }
  | { readonly op: "match" };

/** Most instructions. Each character costs at most one visit to each of them. */
const MAX_INSTRUCTIONS = 5000;
/** Most steps of compilation; nested counted repeats of nothing grow without adding instructions. */
const MAX_STEPS = 50_000;

export interface RegexProgram {
  readonly instructions: readonly Instruction[];
  readonly ignoreCase: boolean;
}

/** Throws `UnsupportedRegex` when the program would be too large. */
export function compileRegex(node: RegexNode, ignoreCase: boolean): RegexProgram {
  const compiler = new Compiler(ignoreCase);
  return { instructions: compiler.compile(node), ignoreCase };
}

/** A jump whose targets are filled in later. */
interface Fork {
  readonly to: number[];
}

class Compiler {
  readonly #ignoreCase: boolean;
  readonly #instructions: Instruction[] = [];
  readonly #sets = new Map<RegexNode, Instruction>();
  #steps = 0;

  constructor(ignoreCase: boolean) {
    this.#ignoreCase = ignoreCase;
  }

  compile(node: RegexNode): readonly Instruction[] {
    this.#emit(node);
    this.#add({ op: "match" });
    return this.#instructions;
  }

  get #here(): number {
    return this.#instructions.length;
  }

  #add(instruction: Instruction): void {
    if (this.#here >= MAX_INSTRUCTIONS) throw tooLarge();
    this.#instructions.push(instruction);
  }

  #fork(): Fork {
    const to: number[] = [];
    this.#add({ op: "jump", to });
    return { to };
  }

  #emit(part: RegexNode): void {
    if (++this.#steps > MAX_STEPS) throw tooLarge();
    switch (part.kind) {
      case "set":
        this.#add(this.#setInstruction(part));
        break;
      case "assert":
        this.#add({ op: "assert", at: part.at });
        break;
      case "sequence":
        for (const item of part.nodes) this.#emit(item);
        break;
      case "choice":
        this.#emitChoice(part.nodes);
        break;
      case "repeat":
        for (let count = 0; count < part.min; count++) this.#emit(part.node);
        if (part.max === Number.POSITIVE_INFINITY) this.#emitLoop(part.node);
        else this.#emitOptional(part.node, part.max - part.min);
        break;
    }
  }

  /** The same object for every copy of a repeated set, so that large sets are stored once. */
  #setInstruction(part: Extract<RegexNode, { kind: "set" }>): Instruction {
    const known = this.#sets.get(part);
    if (known !== undefined) return known;
    const folded = this.#ignoreCase ? foldSet(part.set) : part.set;
    const instruction: Instruction = { op: "set", set: part.negated ? complement(folded) : folded };
    this.#sets.set(part, instruction);
    return instruction;
  }

  #emitChoice(nodes: readonly RegexNode[]): void {
    const [only] = nodes;
    if (only !== undefined && nodes.length === 1) {
      this.#emit(only);
      return;
    }
    const start = this.#fork();
    const ends = nodes.map((item) => {
      start.to.push(this.#here);
      this.#emit(item);
      return this.#fork();
    });
    for (const end of ends) end.to.push(this.#here);
  }

  #emitLoop(node: RegexNode): void {
    const loop = this.#here;
    const entry = this.#fork();
    entry.to.push(this.#here);
    this.#emit(node);
    this.#fork().to.push(loop);
    entry.to.push(this.#here);
  }

  #emitOptional(node: RegexNode, times: number): void {
    const exits: Fork[] = [];
    for (let count = 0; count < times; count++) {
      const optional = this.#fork();
      optional.to.push(this.#here);
      exits.push(optional);
      this.#emit(node);
    }
    for (const exit of exits) exit.to.push(this.#here);
  }
}

function tooLarge(): UnsupportedRegex {
  return new UnsupportedRegex("The regex is too large once its repeats are written out; use smaller counts.");
}
