/**
 * Takes real time out of a test: agents and tests share one isolate, so what is done to its clock holds for both. Dispose to give it back;
 * `using` does.
 */
import { vi } from "vitest";
import { LIMITS } from "../src/shared/limits";

const hour = 3_600_000;

/** Timers of exactly these milliseconds do not fire, or take much longer. */
export function endlessTimers(milliseconds: number, instead = hour): Disposable {
  const { setTimeout } = globalThis;
  const spy = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation((callback: () => void, ms?: number) =>
      setTimeout(callback, ms === milliseconds ? instead : ms)
    );
  return { [Symbol.dispose]: () => spy.mockRestore() };
}

/** Timers of exactly these milliseconds wait until `fire()` lets their time pass, at once. Call it inside the object whose timers they are. */
export function heldTimers(milliseconds: number): Disposable & { readonly fire: () => void } {
  const { setTimeout } = globalThis;
  const held: (() => void)[] = [];
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation((callback: () => void, ms?: number) => {
    if (ms !== milliseconds) return setTimeout(callback, ms);
    held.push(callback);
    return setTimeout(() => undefined, hour);
  });
  return {
    fire() {
      const later = Date.now() + milliseconds;
      const clock = vi.spyOn(Date, "now").mockImplementation(() => later);
      for (const callback of held.splice(0)) callback();
      clock.mockRestore();
    },
    [Symbol.dispose]: () => spy.mockRestore()
  };
}

/**
 * For counting rows: what a stream writes because a second is over, or a turn because it is long, depends on how busy the machine is. The
 * clock stands still and no turn becomes a long one.
 */
export function standingClock(): Disposable {
  const now = Date.now();
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now);
  const timers = endlessTimers(LIMITS.keepAliveAfterMs);
  return {
    [Symbol.dispose]: () => {
      clock.mockRestore();
      timers[Symbol.dispose]();
    }
  };
}
