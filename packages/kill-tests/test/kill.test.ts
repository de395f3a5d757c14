/**
 * A turn of fifty steps whose runtime is killed (SIGKILL of the process): durability.md §3.4, §3.7, §3.13, §11. `npx pnpm test:kill` is the
 * short form; `npx pnpm test:kill:long` kills before and after every write of a turn. `KILL_SEED=7` chooses other random moments.
 *
 * Of every turn it holds: it ends as asked; every step is settled once; nothing that a client was shown is lost; no settled step ran again, and
 * each kill repeats one step at most; a client that comes back is told of the recovery, or joins it, and sees its end; nothing of recovery is
 * left in storage, no schedule and no alarm.
 */
import { fakeClock } from "@cloudflare/think/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fault } from "../worker/fault-points";
import { Arena } from "./support/scenario";
import { startWrangler } from "./support/runtime";

const IS_LONG = process.env.KILL_FORM === "long";
const SEED = Number(process.env.KILL_SEED ?? 1);
/** Frames of a whole turn, for a tab that saw all of them. */
const FRAMES = 355;
const CHUNKS = "INSERT cf_ai_chat_stream_chunks";

const { random } = fakeClock({ seed: SEED });
const anyFrame = (from = 5, to = FRAMES) => ({ frames: from + Math.floor(random() * (to - from)) });

/** Every write of a list as a place to stop at, once before it and once after it. */
function placesOf(writes: readonly string[]): Fault[] {
  const counts = new Map<string, number>();
  return writes.flatMap((write) => {
    const ordinal = (counts.get(write) ?? 0) + 1;
    counts.set(write, ordinal);
    return (["before", "after"] as const).map((when) => ({ write, ordinal, when }));
  });
}

/** In the short form: each kind of write once, and a few of the stored chunks. */
function chosen(places: readonly Fault[]) {
  if (IS_LONG) return places;
  const some = new Set([1, 2 + Math.floor(random() * 30), 33 + Math.floor(random() * 20)]);
  return places.filter(({ write, ordinal }) => (write === CHUNKS ? some.has(ordinal) : ordinal === 1));
}

let arena: Arena;
let writes: Awaited<ReturnType<Arena["rehearse"]>>;
beforeAll(async () => {
  arena = await Arena.open();
  writes = await arena.rehearse();
});
afterAll(async () => {
  const { kills, turns, recoveries, repeats, missed, longest } = arena;
  console.log(
    `${kills} kills in ${turns} turns, ${recoveries} of them recovered, ${repeats} steps in flight repeated, ${missed} kills too late, longest recovery ${Math.round(longest)} ms (seed ${SEED}).`
  );
  await arena.close();
});

describe("a turn of fifty steps whose runtime is killed", () => {
  it("before and after each of its writes is carried on to its end", async () => {
    expect(writes.healthy.filter((write) => write === CHUNKS).length).toBeGreaterThanOrEqual(100);
    for (const place of chosen(placesOf(writes.healthy))) await arena.survives([place]);
  });

  it("and once more before and after each write of its recovery", async () => {
    const places = chosen(placesOf(writes.recovered));
    const { kills } = arena;
    for (const place of places) await arena.survives([anyFrame(100, 200), place]);
    expect(arena.kills - kills).toBe(2 * places.length);
  });

  it("at random moments, once and several times in a row", async () => {
    for (let turn = 0; turn < (IS_LONG ? 60 : 6); turn += 1) await arena.survives([anyFrame()]);
    for (let turn = 0; turn < (IS_LONG ? 20 : 3); turn += 1)
      await arena.survives([anyFrame(5, 120), anyFrame(5, 60), anyFrame(5, 60)]);
    // Nearly all of them came in time: the tests above have shown something.
    expect(arena.missed).toBeLessThanOrEqual(arena.kills / 20);
  });

  it("under wrangler dev, as users run it", async () => {
    const users = await Arena.open(startWrangler);
    try {
      await users.survives([anyFrame(5, 200), anyFrame(5, 60)]);
      expect(users.missed).toBe(0);
    } finally {
      await users.close();
    }
  });
});
