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
function standingClock(random: () => number): Clock & { readonly ids: Ids; advance(ms: number): Promise<void> } {
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
  const random = seeded(seed);
  const clock = standingClock(seeded(seed + 1));
  const runs: Run[] = [];
  const dropped = new Set<number>();
  const events = new Map<string, number>();
  let calls = 0;
  let question = "u1";
  let isCancelled = false;
  let waiting: ((say: Say) => void) | undefined;

  const settled = () =>
    world.messages.flatMap(({ parts }) =>
      parts.flatMap((part) => ("toolCallId" in part && part.state === "output-available" ? [part.toolCallId] : []))
    );

  /** Does the steps that nobody has done, one tool each, and then says that it is done. */
  const model = (): ModelStream => {
    const call = (calls += 1);
    const asked = question;
    const done = new Set(settled());
    const chunks = new ReadableStream<UIMessageChunk>({
      async start(controller) {
        const next = () => new Promise<Say>((resolve) => (waiting = resolve));
        controller.enqueue({ type: "start" });
        for (let step = 0; step < STEPS; step += 1) {
          const toolCallId = `${asked}-step-${step}`;
          if (done.has(toolCallId)) continue;
          for (const part of ["input", "output"] as const) {
            const say = await next();
            if (say === "stall") return;
            if (say === "overflow") {
              controller.enqueue({ type: "error", errorText: "prompt is too long" });
              return controller.close();
            }
            if (part === "input")
              controller.enqueue({ type: "tool-input-available", toolCallId, toolName: "work", input: {} });
            else {
              runs.push({ question: asked, step, call });
              controller.enqueue({ type: "tool-output-available", toolCallId, output: step });
            }
          }
        }
        if ((await next()) === "stall") return;
        controller.enqueue({ type: "text-start", id: "t" });
        controller.enqueue({ type: "text-delta", id: "t", delta: "done" });
        controller.close();
      }
    });
    return { chunks, failure: () => undefined };
  };

  const world: RecoveryWorld = new RecoveryWorld({
    ...{ clock, model, stallMs: 60_000 },
    compact: () => {
      const isShorter = random() < 0.8;
      if (isShorter) dropped.add(calls);
      return isShorter;
    }
  });

  const say = (word: Say) => {
    const answer = waiting;
    waiting = undefined;
    answer?.(word);
  };
  const ask = () => void world.ask(question).catch(() => undefined);
  const happenings: readonly (readonly [string, number, () => void | Promise<void>])[] = [
    ["go", 0.62, () => say("go")],
    ["time", 0.1, () => clock.advance([1_000, 31_000, 61_000][Math.floor(random() * 3)] ?? 0)],
    ["crash", 0.07, () => ((waiting = undefined), world.crash())],
    ["crash twice", 0.03, () => ((waiting = undefined), world.crashTwice(Math.floor(random() * 4)))],
    ["stall", 0.03, () => say("stall")],
    ["overflow", 0.02, () => say("overflow")],
    ["reconnect", 0.1, () => void world.connect()],
    [
      "cancel",
      0.01,
      () => {
        const { turns, stream } = world.isolate;
        if (!stream.isLive || !stream.record) return;
        isCancelled = true;
        turns.cancel(stream.record.requestId);
      }
    ],
    [
      "clear",
      0.02,
      () => {
        waiting = undefined;
        world.clear();
        question = `u${Number(question.slice(1)) + 1}`;
        isCancelled = false;
        ask();
      }
    ]
  ];

  const isOver = () =>
    world.isolate.turns.size === 0 && world.planned.length === 0 && world.record?.status !== "streaming";

  ask();
  await settle();
  let event = 0;
  for (; event < LONGEST && !isOver(); event += 1) {
    const isWild = event < WILD;
    let luck = isWild ? random() : random() * 0.72;
    const [name, , happen] = happenings.find(([, chance]) => (luck -= chance) < 0) ?? happenings[0] ?? [];
    events.set(name ?? "", (events.get(name ?? "") ?? 0) + 1);
    await happen?.();
    await settle();
    // The platform does not wait for one schedule before it does something else.
    void world.fire();
    await settle();
  }
  return { world, runs, dropped, question, isCancelled, isOver: isOver(), events };
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
