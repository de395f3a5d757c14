/**
 * Seeded lives of one agent on the real turns, stream, incidents and recovery: crash, stall, overflow, cancel, clear and reconnect at random
 * moments of a turn with tools (durability.md §3–§5). `RECOVERY_SEED=17 npx pnpm test:unit recovery/simulation` replays one life;
 * `RECOVERY_LIVES=50000` runs more.
 */
import type { UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import type { ModelStream } from "../loop/sdk";
import { fakeClock } from "../testing/fake-clock";
import type { ChatRecoveryOptions } from "./recovery-types";
import { RecoveryWorld } from "./recovery-world.test-support";
import { live, settledCalls, STEPS, type Life } from "./simulated-life.test-support";

const LIVES = Number(process.env.RECOVERY_LIVES ?? 6_000);

function check({ world, runs, dropped, question, isCancelled, isOver }: Life): void {
  expect(isOver).toBe(true);
  const last = world.messages.at(-1);
  const isDone = last?.parts.some((part) => part.type === "text" && part.text === "done") ?? false;
  const isFailed = world.record?.status === "error";
  // It ends as asked, visibly failed, or stopped by the user.
  expect({ isDone, isFailed, isCancelled }).not.toEqual({
    isDone: false,
    isFailed: false,
    isCancelled: false
  });
  // No settled step ran twice, except where an overflow dropped the whole attempt.
  const own = runs.filter((run) => run.question === question && !dropped.has(run.call));
  expect(new Set(own.map(({ step }) => step)).size).toBe(own.length);
  // Nothing that was settled is lost, and nothing of a conversation that was cleared comes back.
  const settled = settledCalls(world);
  expect(settled).toEqual(own.map(({ step }) => `${question}-step-${step}`));
  if (isDone) expect(settled).toHaveLength(STEPS);
  expect(world.messages.filter(({ role }) => role === "user").map(({ id }) => id)).toEqual([question]);
  // Nothing is left: no schedule, no flag, and no client that still shows a recovery.
  expect(world.planned).toEqual([]);
  expect(world.kv.has("cf:chat:recovering")).toBe(false);
  for (const { frames } of world.clients) {
    const shown = frames.findLast(({ type }) => type === "cf_agent_chat_recovering");
    expect(shown?.recovering ?? false).toBe(false);
  }
}

describe("§3 a turn of six tools in an unreliable world", () => {
  it(`always ends, runs no settled step twice, loses none and leaves nothing behind (${LIVES} lives)`, async () => {
    const only = process.env.RECOVERY_SEED;
    const seeds = only === undefined ? Array.from({ length: LIVES }, (_, seed) => seed) : [Number(only)];
    const happened = new Map<string, number>();
    for (const seed of seeds) {
      const life = await live(seed);
      for (const [event, count] of life.events) happened.set(event, (happened.get(event) ?? 0) + count);
      try {
        check(life);
      } catch (error) {
        throw new Error(`Replay with: RECOVERY_SEED=${seed} npx pnpm test:unit recovery/simulation`, {
          cause: error
        });
      }
    }
    // The world was unreliable indeed.
    const least = only === undefined ? LIVES / 20 : 0;
    for (const event of ["crash", "crash twice", "stall", "overflow", "cancel", "clear", "reconnect"])
      expect(happened.get(event) ?? 0).toBeGreaterThanOrEqual(least);
  }, 120_000);
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

it("§3.7 an author's hook that takes longer than its time is not waited for: the incident fails, and the detection is repeated later", async () => {
  const clock = fakeClock();
  const chunks = () => new ReadableStream<UIMessageChunk>();
  const hook = () => new Promise<never>(() => undefined);
  const world = new RecoveryWorld({
    clock,
    hook,
    model: () => ({ chunks: chunks(), failure: () => undefined })
  });
  void world.ask("u1");
  await new Promise((resolve) => setImmediate(resolve));
  const woken = world.crash();
  await clock.advance(10_000);
  await woken;
  expect(world.incidents).toMatchObject([{ status: "failed", reason: expect.stringContaining("10000 ms") }]);
  expect(world.planned).toMatchObject([{ callback: "_chatRecoveryDetect", at: clock.now() + 60_000 }]);
});

describe("§3.7 whoever clears or asks again while the author is being heard has the last word", () => {
  const silent = (): ModelStream => ({
    chunks: new ReadableStream<UIMessageChunk>({
      start(controller) {
        controller.enqueue({ type: "text-start", id: "t" });
        controller.enqueue({ type: "text-delta", id: "t", delta: "half" });
      }
    }),
    failure: () => undefined
  });
  const breath = () => new Promise((resolve) => setImmediate(resolve));

  /** An interrupted turn whose author is thinking about it. */
  async function asked() {
    const answer = Promise.withResolvers<ChatRecoveryOptions>();
    const world = new RecoveryWorld({ clock: fakeClock(), model: silent, hook: () => answer.promise });
    void world.ask("u1");
    await breath();
    const detected = world.crash();
    await breath();
    return { world, detected, answer };
  }

  it("a clear leaves no incident, no schedule and no flag, whatever the author says then", async () => {
    for (const options of [{}, { persist: false }, { continue: false }]) {
      const { world, detected, answer } = await asked();
      world.clear();
      answer.resolve(options);
      await detected;
      expect([world.incidents, world.planned, world.record]).toEqual([[], [], null]);
      expect(world.kv.has("cf:chat:recovering")).toBe(false);
    }
  });

  it("a client that comes back is no last word: the turn is carried on", async () => {
    const { world, detected, answer } = await asked();
    world.connect();
    answer.resolve({});
    await detected;
    expect(world.planned).toMatchObject([{ callback: "_chatRecoveryContinue" }]);
    expect(world.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("a new question keeps its stream, and the old turn is not carried on", async () => {
    const { world, detected, answer } = await asked();
    void world.ask("u2");
    await breath();
    answer.resolve({ persist: false });
    await detected;
    expect(world.record).toMatchObject({ status: "streaming", requestId: "request-u2" });
    expect(world.isolate.stream.isLive).toBe(true);
    expect(world.planned).toEqual([]);
    expect(world.incidents).toMatchObject([{ status: "skipped", reason: "conversation_changed" }]);
  });
});
