/**
 * One seeded life of an agent: a question whose answer takes several tools, in a world in which anything may happen between two chunks. One
 * driver chooses what happens next: the model says its next word, stalls or overflows; the isolate crashes; time passes; a client comes, stops the
 * turn or clears the conversation. The same seed gives the same life.
 */
import type { UIMessageChunk } from "ai";
import type { ModelStream } from "../loop/sdk";
import type { Clock, Ids } from "../shared/clock";
import { RecoveryWorld } from "./recovery-world.test-support";

export const STEPS = 6;
/** After so many events nothing bad happens any more: every life must come to its end. */
const WILD = 120;
/** A life that is longer than this hangs. */
const LONGEST = 3_000;

type Say = "go" | "stall" | "overflow";

/** A tool that has run. `call` numbers the model's streams. */
interface Run {
  readonly question: string;
  readonly step: number;
  readonly call: number;
}

export interface Life {
  readonly world: RecoveryWorld;
  readonly runs: readonly Run[];
  /** Streams of the model whose part of the answer was dropped to be asked anew. */
  readonly dropped: ReadonlySet<number>;
  /** The last question. */
  readonly question: string;
  readonly isCancelled: boolean;
  readonly isOver: boolean;
  /** How often each event happened. */
  readonly events: ReadonlyMap<string, number>;
}

/** Time that passes only when the driver says so. */
function standingClock(
  random: () => number
): Clock & { readonly ids: Ids; advance(ms: number): Promise<void> } {
  let now = 1_000_000;
  let ids = 0;
  const timers = new Set<{ readonly due: number; readonly callback: () => void }>();
  return {
    now: () => now,
    setTimer(callback, ms) {
      const timer = { due: now + ms, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    ids: { next: () => `id-${(ids += 1)}-${Math.floor(random() * 1e6)}` },
    async advance(ms) {
      const end = now + ms;
      const due = () => [...timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0];
      for (let timer = due(); timer; timer = due()) {
        timers.delete(timer);
        now = timer.due;
        timer.callback();
        await settle();
      }
      now = end;
    }
  };
}

/** Every promise that can settle does. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

export async function live(seed: number): Promise<Life> {
  const simulation = new Simulation(seed);
  await simulation.run();
  return simulation;
}

class Simulation implements Life {
  readonly runs: Run[] = [];
  readonly dropped = new Set<number>();
  readonly events = new Map<string, number>();
  readonly world: RecoveryWorld;
  question = "u1";
  isCancelled = false;
  readonly #random: () => number;
  readonly #clock: ReturnType<typeof standingClock>;
  #calls = 0;
  /** The model waits here for its next word. */
  #waiting: ((say: Say) => void) | undefined;

  constructor(seed: number) {
    this.#random = seeded(seed);
    this.#clock = standingClock(seeded(seed + 1));
    this.world = new RecoveryWorld({
      ...{ clock: this.#clock, model: () => this.#model(), stallMs: 60_000 },
      compact: () => {
        const isShorter = this.#random() < 0.8;
        if (isShorter) this.dropped.add(this.#calls);
        return isShorter;
      }
    });
  }

  get isOver(): boolean {
    const { isolate, planned, record } = this.world;
    return isolate.turns.size === 0 && planned.length === 0 && record?.status !== "streaming";
  }

  async run(): Promise<void> {
    this.#ask();
    await settle();
    for (let event = 0; event < LONGEST && !this.isOver; event += 1) {
      const [name, happen] = this.#next(event < WILD);
      this.events.set(name, (this.events.get(name) ?? 0) + 1);
      await happen();
      await settle();
      // The platform does not wait for one schedule before it does something else.
      void this.world.fire();
      await settle();
    }
  }

  /** What happens next; when the wild time is over, only what brings the life to its end. */
  #next(isWild: boolean): readonly [string, () => void | Promise<void>] {
    const { world } = this;
    const happenings: readonly (readonly [string, number, () => void | Promise<void>])[] = [
      ["go", 0.62, () => this.#say("go")],
      ["time", 0.1, () => this.#clock.advance([1_000, 31_000, 61_000][Math.floor(this.#random() * 3)] ?? 0)],
      ["crash", 0.07, () => this.#dies(() => world.crash())],
      ["crash twice", 0.03, () => this.#dies(() => world.crashTwice(Math.floor(this.#random() * 4)))],
      ["stall", 0.03, () => this.#say("stall")],
      ["overflow", 0.02, () => this.#say("overflow")],
      ["reconnect", 0.1, () => void world.connect()],
      ["cancel", 0.01, () => this.#cancel()],
      ["clear", 0.02, () => this.#dies(() => this.#clear())]
    ];
    let luck = this.#random() * (isWild ? 1 : 0.72);
    const [name, , happen] = happenings.find(([, chance]) => (luck -= chance) < 0) ?? [];
    return name !== undefined && happen ? [name, happen] : ["go", () => this.#say("go")];
  }

  #say(word: Say): void {
    const answer = this.#waiting;
    this.#waiting = undefined;
    answer?.(word);
  }

  /** Nobody listens to the model any more. */
  #dies(how: () => void | Promise<void>): void | Promise<void> {
    this.#waiting = undefined;
    return how();
  }

  #ask(): void {
    void this.world.ask(this.question).catch(() => undefined);
  }

  #cancel(): void {
    const { turns, stream } = this.world.isolate;
    if (!stream.isLive || !stream.record) return;
    this.isCancelled = true;
    turns.cancel(stream.record.requestId);
  }

  #clear(): void {
    this.world.clear();
    this.question = `u${Number(this.question.slice(1)) + 1}`;
    this.isCancelled = false;
    this.#ask();
  }

  /** Does the steps that nobody has done, one tool each, and then says that it is done. */
  #model(): ModelStream {
    const call = (this.#calls += 1);
    const { question } = this;
    const done = new Set(settledCalls(this.world));
    const chunks = new ReadableStream<UIMessageChunk>({
      start: async (controller) => {
        controller.enqueue({ type: "start" });
        for (let step = 0; step < STEPS; step += 1) {
          const toolCallId = `${question}-step-${step}`;
          if (done.has(toolCallId)) continue;
          if (!(await this.#mayGoOn(controller))) return;
          controller.enqueue({ type: "tool-input-available", toolCallId, toolName: "work", input: {} });
          if (!(await this.#mayGoOn(controller))) return;
          this.runs.push({ question, step, call });
          controller.enqueue({ type: "tool-output-available", toolCallId, output: step });
        }
        if (!(await this.#mayGoOn(controller))) return;
        controller.enqueue({ type: "text-start", id: "t" });
        controller.enqueue({ type: "text-delta", id: "t", delta: "done" });
        controller.close();
      }
    });
    return { chunks, failure: () => undefined };
  }

  async #mayGoOn(controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<boolean> {
    const say = await new Promise<Say>((resolve) => (this.#waiting = resolve));
    if (say === "overflow") {
      controller.enqueue({ type: "error", errorText: "prompt is too long" });
      controller.close();
    }
    return say === "go";
  }
}

/** The ids of the calls that have a result. */
export function settledCalls({ messages }: RecoveryWorld): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      "toolCallId" in part && part.state === "output-available" ? [part.toolCallId] : []
    )
  );
}

/** A small generator of random numbers in [0, 1). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
