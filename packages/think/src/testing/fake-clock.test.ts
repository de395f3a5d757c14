import { describe, expect, it } from "vitest";
import { fakeClock } from "./fake-clock";

describe("fakeClock", () => {
  it("stands still until it is advanced", async () => {
    const clock = fakeClock({ start: 1000 });
    expect(clock.now()).toBe(1000);
    await clock.advance(25);
    expect(clock.now()).toBe(1025);
  });

  it("fires timers in the order they fall due, at their due time", async () => {
    const clock = fakeClock({ start: 0 });
    const fired: [string, number][] = [];
    const note = (name: string) => () => void fired.push([name, clock.now()]);
    clock.setTimer(note("late"), 30);
    clock.setTimer(note("early"), 10);
    clock.setTimer(note("early too"), 10);
    clock.setTimer(note("never"), 31);
    clock.setTimer(note("cancelled"), 20).cancel();
    await clock.advance(30);
    expect(fired).toEqual([
      ["early", 10],
      ["early too", 10],
      ["late", 30]
    ]);
    expect(clock.pending).toBe(1);
  });

  it("fires timers that code sets while it waits for others", async () => {
    const clock = fakeClock({ start: 0 });
    const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
    const times: number[] = [];
    const loop = (async () => {
      for (let round = 0; round < 3; round += 1) {
        await sleep(10);
        times.push(clock.now());
      }
    })();
    await clock.advance(30);
    await loop;
    expect(times).toEqual([10, 20, 30]);
  });

  it("stops a timer that sets itself anew without a delay", async () => {
    const clock = fakeClock();
    const again = () => void clock.setTimer(again, 0);
    again();
    await expect(clock.advance(1)).rejects.toThrow("does one set itself anew without a delay?");
  });

  it("gives the same ids and numbers for the same seed, and others for another", () => {
    const draw = (seed: number) => {
      const clock = fakeClock({ seed });
      return [clock.ids.next(), clock.ids.next(), clock.random(), clock.random()];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(new Set(draw(7)).size).toBe(4);
  });

  it("makes ids in the form of version 4 UUIDs and numbers below one", () => {
    const clock = fakeClock();
    for (let draw = 0; draw < 100; draw += 1) {
      expect(clock.ids.next()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u);
      expect(clock.random()).toBeGreaterThanOrEqual(0);
      expect(clock.random()).toBeLessThan(1);
    }
  });
});
