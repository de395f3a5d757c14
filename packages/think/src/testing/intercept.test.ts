import { describe, expect, it } from "vitest";
import { intercept } from "./intercept";

class Adder {
  base = 1;
  add(value: number): number {
    return this.base + value;
  }
}

describe("intercept", () => {
  it("sends calls through every interceptor and keeps the receiver", () => {
    const adder = new Adder();
    const seen: unknown[] = [];
    intercept(adder, "add", ({ args, proceed }) => {
      seen.push(args);
      return proceed();
    });
    intercept(adder, "add", ({ proceed }) => proceed([10]));
    expect(adder.add(1)).toBe(11);
    expect(seen).toEqual([[10]]);
  });

  it.each([
    [0, 1],
    [1, 0]
  ])("puts the original back when the last one ends, in the order %i, %i", (...order) => {
    const adder = new Adder();
    const ends = [0, 1].map(() => intercept(adder, "add", ({ proceed }) => Number(proceed()) * 2));
    expect(adder.add(1)).toBe(8);
    ends[order[0] ?? 0]?.();
    expect(adder.add(1)).toBe(4);
    ends[order[1] ?? 0]?.();
    expect(adder.add(1)).toBe(2);
    expect(Object.hasOwn(adder, "add")).toBe(false);
  });

  it("restores a method it replaced on a prototype", () => {
    const original = Adder.prototype.add;
    const end = intercept(Adder.prototype, "add", () => 0);
    expect(new Adder().add(1)).toBe(0);
    end();
    end();
    expect(Adder.prototype.add).toBe(original);
  });

  it("leaves a missing method missing", () => {
    const adder = new Adder();
    intercept(adder, "subtract", () => 0)();
    expect("subtract" in adder).toBe(false);
  });
});
