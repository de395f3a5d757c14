import { describe, expect, it } from "vitest";
import { runInOrder } from "./schedule.mjs";

/**
 * Runs items that end when told to. Those in lower case wait.
 *
 * @param {string} items
 */
function start(items) {
  /** @type {Map<string, () => void>} */
  const running = new Map();
  const done = runInOrder(
    items.split(""),
    (item) => item === item.toLowerCase(),
    (item) => new Promise((resolve) => running.set(item, resolve))
  );
  return {
    done,
    running: () => [...running.keys()].join(""),
    /** @param {string} item */
    end: async (item) => {
      running.get(item)?.();
      running.delete(item);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}

describe("the order of the steps", () => {
  it("is one after the other for those that compute", async () => {
    const steps = start("AB");
    expect(steps.running()).toBe("A");
    await steps.end("A");
    expect(steps.running()).toBe("B");
    await steps.end("B");
    await steps.done;
  });

  it("is two at a time for neighbours that wait, the next when one ends", async () => {
    const steps = start("abcD");
    expect(steps.running()).toBe("ab");
    await steps.end("b");
    expect(steps.running()).toBe("ac");
    await steps.end("c");
    expect(steps.running()).toBe("a");
    await steps.end("a");
    expect(steps.running()).toBe("D");
    await steps.end("D");
    await steps.done;
  });

  it("never runs one that waits beside one that computes", async () => {
    const steps = start("aBc");
    expect(steps.running()).toBe("a");
    await steps.end("a");
    expect(steps.running()).toBe("B");
    await steps.end("B");
    expect(steps.running()).toBe("c");
    await steps.end("c");
    await steps.done;
  });

  it("stops with the first that throws", async () => {
    await expect(
      runInOrder(
        ["A", "B"],
        () => false,
        async (item) => {
          if (item === "B") throw new Error("B ran");
          throw new Error("A failed");
        }
      )
    ).rejects.toThrow("A failed");
  });
});
