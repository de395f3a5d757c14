/**
 * Seeded lives of one agent: crashes, stalls and failures at random moments of a turn with tools. `RECOVERY_SEED=17 pnpm test:unit
 * recovery/simulation` replays one life.
 */
import type { UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import type { ModelStream } from "../loop/sdk";
import { fakeClock } from "../testing/fake-clock";
import { RecoveryWorld } from "./recovery-world.test-support";

/** More on demand: `RECOVERY_LIVES=20000 pnpm test:unit recovery/simulation`. */
const LIVES = Number(process.env.RECOVERY_LIVES ?? 500);
const STEPS = 6;

/** A small generator of random numbers in [0, 1): the same seed, the same life. */
function random(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 4_294_967_296;
  };
}

interface Life {
  readonly world: RecoveryWorld;
  /** Steps whose tool has run, in order. */
  readonly ran: number[];
}

/** A model that still has to do the steps that nobody has done, one tool each, and then says that it is done. */
async function live(seed: number): Promise<Life> {
  const next = random(seed);
  const ran: number[] = [];
  let died: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  const settledSteps = () =>
    world.messages.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        "toolCallId" in part && part.state === "output-available" ? [part.toolCallId] : []
      )
    );

  const model = (): ModelStream => {
    const first = settledSteps().length;
    const chunks = new ReadableStream<UIMessageChunk>({
      async start(controller) {
        /** True when this is the end of the road for this isolate or this stream. */
        const strikes = (): boolean => {
          const luck = next();
          if (luck < 0.12) died.resolve();
          return luck < 0.2;
        };
        controller.enqueue({ type: "start" });
        for (let step = first; step < STEPS; step += 1) {
          if (strikes()) return;
          const toolCallId = `step-${step}`;
          controller.enqueue({ type: "tool-input-available", toolCallId, toolName: "work", input: {} });
          if (strikes()) return;
          ran.push(step);
          controller.enqueue({ type: "tool-output-available", toolCallId, output: step });
          // What is settled has been read, and with that stored, before anything else can happen.
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (strikes()) return;
        controller.enqueue({ type: "text-start", id: "t" });
        controller.enqueue({ type: "text-delta", id: "t", delta: "done" });
        controller.close();
      }
    });
    return { chunks, failure: () => undefined };
  };

  const clock = fakeClock();
  const world: RecoveryWorld = new RecoveryWorld({ clock, model, stallMs: 60_000 });
  let asked: Promise<unknown> = world.ask("u1");
  for (let round = 0; round < 400; round += 1) {
    const crashed = await Promise.race([
      died.promise.then(() => true),
      asked.then(() => false),
      new Promise<boolean>((resolve) => setImmediate(() => setImmediate(() => resolve(false))))
    ]);
    if (crashed) {
      died = Promise.withResolvers<void>();
      asked = Promise.resolve();
      await world.crash();
    }
    await clock.advance(31_000);
    await world.fire();
    if (world.planned.length === 0 && world.record?.status !== "streaming") break;
  }
  return { world, ran };
}

function check({ world, ran }: Life): void {
  const last = world.messages.at(-1);
  const isDone = last?.parts.some((part) => part.type === "text" && part.text === "done") ?? false;
  const isGivenUp = world.record?.status === "error";
  expect({ isDone, isGivenUp, record: world.record?.status }).toMatchObject({ isDone: !isGivenUp });
  expect(world.record?.status).not.toBe("streaming");
  // No settled step ran twice, and none was lost.
  const settled = world.messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      "toolCallId" in part && part.state === "output-available" ? [part.toolCallId] : []
    )
  );
  expect(new Set(settled).size).toBe(settled.length);
  expect(new Set(ran).size).toBe(ran.length);
  if (isDone) expect(settled).toEqual(Array.from({ length: STEPS }, (_, step) => `step-${step}`));
  // Nothing is left: no schedule, no flag.
  expect(world.planned).toEqual([]);
  expect(world.kv.has("cf:chat:recovering")).toBe(false);
}

describe("§3 a turn of six tools in an unreliable world", () => {
  it(`always ends, runs no settled step twice, loses none and leaves nothing behind (${LIVES} lives)`, async () => {
    const only = process.env.RECOVERY_SEED;
    const seeds = only === undefined ? Array.from({ length: LIVES }, (_, seed) => seed) : [Number(only)];
    let crashes = 0;
    for (const seed of seeds) {
      const life = await live(seed);
      crashes += life.world.lives;
      try {
        check(life);
      } catch (error) {
        throw new Error(`Replay with: RECOVERY_SEED=${seed} npx pnpm test:unit recovery/simulation`, {
          cause: error
        });
      }
    }
    // The world was unreliable indeed.
    expect(crashes).toBeGreaterThan(only === undefined ? LIVES / 2 : -1);
  }, 60_000);
});

describe("§3.10 an attempt that throws", () => {
  const never = (): ModelStream => ({
    chunks: new ReadableStream<UIMessageChunk>(),
    failure: () => undefined
  });

  /** An agent whose turn was interrupted and whose attempt is planned. */
  async function interrupted(onExhausted: (context: { readonly reason: string }) => void) {
    const model = never;
    const world = new RecoveryWorld({ clock: fakeClock(), model, setting: { onExhausted } });
    void world.ask("u1");
    await new Promise((resolve) => setImmediate(resolve));
    await world.crash();
    return { world };
  }

  it("trap 18: any failure of the attempt itself gives the turn up, visibly, with recovery_error", async () => {
    const told: string[] = [];
    const { world } = await interrupted(({ reason }) => void told.push(reason));
    const turns = world.isolate.turns as unknown as { run: () => Promise<never> };
    turns.run = () => Promise.reject(new Error("no room"));
    await world.fire();
    expect(told).toEqual(["recovery_error"]);
    expect(world.frames.at(-1)).toMatchObject({ recovering: false });
    expect(world.record).toMatchObject({ status: "error", requestId: "request-u1" });
  });

  it("trap 18: a failure of the platform is thrown, so that the schedule repeats it, and nobody is told", async () => {
    const told: string[] = [];
    const { world } = await interrupted(({ reason }) => void told.push(reason));
    const turns = world.isolate.turns as unknown as { run: () => Promise<never> };
    turns.run = () => Promise.reject(new Error("reset because its code was updated"));
    await expect(world.fire()).rejects.toThrow("code was updated");
    expect(told).toEqual([]);
    expect(world.incidents).toMatchObject([{ status: "failed" }]);
    expect(world.planned).toHaveLength(1);
  });

  it("trap 17: a terminal write that fails leaves the incident unsealed; the repetition finishes", async () => {
    const told: string[] = [];
    const { world } = await interrupted(({ reason }) => void told.push(reason));
    const turns = world.isolate.turns as unknown as { run: () => Promise<never> };
    turns.run = () => Promise.reject(new Error("no room"));
    world.failTerminal = new Error("reset because its code was updated");
    await expect(world.fire()).rejects.toThrow("code was updated");
    expect(world.incidents.map(({ status }) => status)).not.toContain("exhausted");
    await world.fire();
    expect(world.incidents).toMatchObject([{ status: "exhausted", reason: "recovery_error" }]);
    expect(told).toEqual(["recovery_error", "recovery_error"]);
  });
});
