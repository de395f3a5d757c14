/**
 * Time, ids and chance under a test's control: nothing happens until the test says so, and the same seed
 * gives the same run. Implements the interfaces production code receives.
 *
 * Invariants:
 * C1. Timers fire in the order of their due time, those due at the same time in the order they were set.
 * C2. `now()` never goes back; while a timer's callback runs it is that timer's due time.
 */
import type { Clock, Ids } from "../shared/clock";

export interface FakeClockOptions {
  /** First value of `now()`, in milliseconds since 1970. Default 2026-01-01T00:00:00Z. */
  readonly start?: number;
  /** Seed of `ids` and `random`. Default 1. */
  readonly seed?: number;
}

/** A clock that stands still until it is advanced. */
export interface FakeClock extends Clock {
  /** Reproducible ids in the form of version 4 UUIDs. */
  readonly ids: Ids;
  /** How many timers are set. */
  readonly pending: number;
  /** A reproducible number from 0 up to, not including, 1. */
  random(): number;
  /**
   * Lets `ms` milliseconds pass and fires what falls due, timers set meanwhile included. Between two timers
   * promises get the chance to settle. When a timer belongs to an agent and does more than raise a flag,
   * advance inside it: `runInAgent(stub, () => clock.advance(ms))`.
   */
  advance(ms: number): Promise<void>;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

const defaultStart = Date.UTC(2026, 0, 1);
/** So many timers at one and the same time mean that one sets itself anew without a delay. */
const mostTimersAtOnce = 1000;

/** Makes a clock that stands at `start`. */
export function fakeClock({ start = defaultStart, seed = 1 }: FakeClockOptions = {}): FakeClock {
  let now = start;
  const timers = new Set<Timer>();
  // Two independent sequences, so that drawing an id does not change what `random` gives.
  const random = seededRandom(seed);
  const idRandom = seededRandom(seed ^ 0x5bd1e995);
  return {
    now: () => now,
    setTimer(callback, ms) {
      const timer = { due: now + Math.max(0, ms), callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    ids: { next: () => uuidFrom(idRandom) },
    get pending() {
      return timers.size;
    },
    random,
    async advance(ms) {
      const end = now + Math.max(0, ms);
      await settle();
      let firedAtOnce = 0;
      for (let timer = earliest(timers, end); timer !== undefined; timer = earliest(timers, end)) {
        firedAtOnce = timer.due > now ? 1 : firedAtOnce + 1;
        if (firedAtOnce > mostTimersAtOnce) {
          throw new Error(
            `${mostTimersAtOnce} timers fired without time passing: does one set itself anew without a delay?`
          );
        }
        timers.delete(timer);
        now = Math.max(now, timer.due);
        timer.callback();
        await settle();
      }
      now = Math.max(now, end);
    }
  };
}

function earliest(timers: ReadonlySet<Timer>, end: number): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers)
    if (timer.due <= end && (first === undefined || timer.due < first.due)) first = timer;
  return first;
}

/** One turn of the real event loop: every promise that can settle does. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

/** The mulberry32 generator: small, fast and good enough for tests. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function uuidFrom(random: () => number): string {
  const digits = Array.from({ length: 32 }, (_, index) => {
    if (index === 12) return "4";
    const value = Math.floor(random() * 16);
    return (index === 16 ? (value & 3) | 8 : value).toString(16);
  }).join("");
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => digits.slice(cuts[index], end))
    .join("-");
}
