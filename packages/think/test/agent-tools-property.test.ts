/**
 * Random interleavings of starting, following, failing, cancelling, talking and crashing over several runs of one child (issue 7, seed 001 §8.2): each run ends
 * as its own stream said, and every reader sees its chunks and no others.
 */
import {
  crash,
  gate,
  runInAgent,
  streamError,
  text,
  userMessage,
  type Gate,
  type ScriptFunction
} from "@cloudflare/think/testing";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import "./fixed-seed";
import { newChild, patient, textOf, type Line } from "./agent-tools-support";

const RUNS = 3;

type Action =
  | { readonly kind: "start" | "open" | "cancel" | "tail"; readonly run: number }
  | { readonly kind: "talk" | "crash" };

const run = fc.nat({ max: RUNS - 1 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("start" as const), run }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("open" as const), run }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("tail" as const), run }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel" as const), run }) },
  { weight: 1, arbitrary: fc.constant({ kind: "talk" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "crash" as const }) }
);

/** One child with its runs, and what the test knows must become of them. */
class World {
  readonly gates: readonly Gate[] = Array.from({ length: RUNS }, () => gate());
  readonly child: ReturnType<typeof newChild>;
  readonly fails: readonly boolean[];
  readonly started = new Set<number>();
  /** Runs that were cancelled while open. */
  readonly cancelled = new Set<number>();
  readonly tails: { readonly run: number; readonly lines: Promise<Line[]> }[] = [];

  constructor(fails: readonly boolean[]) {
    this.fails = fails;
    this.child = newChild(Array.from({ length: 60 }, () => this.#answer));
  }

  /** The run is known by its question, which stands in the prompt, also when the answer is carried on. */
  readonly #answer: ScriptFunction = (call) => {
    const prompt = JSON.stringify(call.prompt);
    const asked = [...prompt.matchAll(/(?:question (\d)|small talk)/gu)].at(-1)?.[1];
    if (asked === undefined) return "chatter";
    const index = Number(asked);
    const isFirst = !prompt.includes(`said ${index}`);
    const own = this.gates[index] ?? gate();
    return [
      ...(isFirst ? [text([`said ${index} `, `and ${index} `])] : [text(`more ${index} `)]),
      own,
      ...(this.fails[index] ? [streamError(`failed ${index}`)] : [text(`end ${index}`)])
    ];
  };

  id(index: number): string {
    return `run-${index}`;
  }

  async act(next: Action): Promise<void> {
    const { child } = this;
    switch (next.kind) {
      case "start":
        this.started.add(next.run);
        return void (await child.start(`question ${next.run}`, this.id(next.run)));
      case "open":
        return this.gates[next.run]?.open();
      case "cancel": {
        const isOpen = (await child.inspect(this.id(next.run)))?.completedAt === undefined;
        const isKnown = this.started.has(next.run);
        await child.cancel(`stopped ${next.run}`, this.id(next.run));
        const after = await child.inspect(this.id(next.run));
        if (isKnown && isOpen && after?.error === `stopped ${next.run}`) this.cancelled.add(next.run);
        return;
      }
      case "tail":
        return void this.tails.push({
          run: next.run,
          lines: child.tail(undefined, this.id(next.run)).catch(() => [])
        });
      case "talk":
        return void runInAgent(child.stub(), (agent) =>
          agent.saveMessages([userMessage("small talk")])
        ).catch(() => undefined);
      case "crash":
        return this.#crash();
    }
  }

  /** What runs must be carried on before anything else is said: a new question makes the old one obsolete, for recovery too. */
  async #crash(): Promise<void> {
    const before = new Map<number, string | undefined>();
    for (const index of this.started) {
      const stored = await this.child.inspect(this.id(index));
      if (stored?.status === "running") before.set(index, stored.requestId);
    }
    await crash(this.child.stub());
    for (const [index, requestId] of before)
      await vi.waitFor(async () => {
        const stored = await this.child.inspect(this.id(index));
        if (stored?.completedAt === undefined) expect(stored?.requestId).not.toBe(requestId);
      }, patient);
  }

  async settle(): Promise<void> {
    for (const index of this.started) await this.child.start(`question ${index}`, this.id(index));
    for (const own of this.gates) own.open();
    for (const index of this.started) await this.child.over(this.id(index));
  }

  async check(): Promise<void> {
    for (const index of this.started) {
      const ended = await this.child.inspect(this.id(index));
      expect([index, ended?.status, ended?.error]).toEqual([index, ...this.#expected(index)]);
      if (ended?.status === "completed")
        expect(ended.summary).toMatch(new RegExp(`^[a-z ${index}\\n]*end ${index}$`, "u"));
      const lines = await this.child.chunks(undefined, this.id(index));
      expect(textOf(lines).replaceAll(/\D/gu, "")).toMatch(new RegExp(`^${index}*$`, "u"));
      expectRising(lines);
      expect(await this.child.tail(undefined, this.id(index))).toEqual(lines);
    }
    for (const { run: index, lines } of this.tails) {
      const seen = await lines;
      expectRising(seen);
      expect(textOf(seen).replaceAll(/\D/gu, "")).toMatch(new RegExp(`^${index}*$`, "u"));
    }
    await vi.waitFor(async () => expect(await this.child.kept()).toBe(0), patient);
  }

  #expected(index: number): unknown[] {
    if (this.cancelled.has(index)) return ["aborted", `stopped ${index}`];
    return this.fails[index] ? ["error", `failed ${index}`] : ["completed", undefined];
  }
}

function expectRising(lines: readonly Line[]): void {
  const places = lines.map(({ sequence }) => sequence);
  expect(places).toEqual([...new Set(places)].toSorted((left, right) => left - right));
}

it("ends every run as its own stream said, whatever happens around it", async () => {
  const life = fc.array(action, { minLength: 4, maxLength: 14 });
  const fails = fc.array(fc.boolean(), { minLength: RUNS, maxLength: RUNS });
  const { numRuns = 25 } = fc.readConfigureGlobal();
  await fc.assert(
    fc.asyncProperty(fails, life, async (failing, actions) => {
      const world = new World(failing);
      for (const next of actions) await world.act(next);
      await world.settle();
      await world.check();
    }),
    { numRuns }
  );
}, 120_000);
