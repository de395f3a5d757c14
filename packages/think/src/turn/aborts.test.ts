import { describe, expect, it, vi } from "vitest";
import { AbortRegistry, unlessAborted } from "./aborts";

describe("the abort registry (§3.2)", () => {
  it("cancels by id, each turn of that id and no other; an unknown id is no error", () => {
    const registry = new AbortRegistry();
    const [first, again, other] = [
      registry.open("a", undefined),
      registry.open("a", undefined),
      registry.open("b", undefined)
    ];
    first.close();
    registry.cancel("unknown");
    registry.cancel("a");
    expect([first, again, other].map(({ signal }) => signal.aborted)).toEqual([false, true, false]);
    registry.cancelAll();
    expect(other.signal.aborted).toBe(true);
    again.close();
    other.close();
    expect(registry.size).toBe(0);
  });

  it("follows a caller's signal, also one that has fired already, and leaves no listener on it", () => {
    const registry = new AbortRegistry();
    expect(registry.open("early", AbortSignal.abort()).signal.aborted).toBe(true);
    const caller = new AbortController();
    const added = vi.spyOn(caller.signal, "addEventListener");
    const removed = vi.spyOn(caller.signal, "removeEventListener");
    const ended = registry.open("ended", caller.signal);
    const running = registry.open("running", caller.signal);
    ended.close();
    caller.abort();
    expect([ended.signal.aborted, running.signal.aborted]).toEqual([false, true]);
    running.close();
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener)
    );
  });
});

describe("work that ignores its signal", () => {
  it("is waited for, with its value or its failure", async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(unlessAborted(Promise.reject(new Error("boom")), signal)).rejects.toThrow("boom");
  });

  it("is left alone when the signal fires, and its later failure is nobody's", async () => {
    const controller = new AbortController();
    const work = Promise.withResolvers<number>();
    const waiting = unlessAborted(work.promise, controller.signal);
    controller.abort();
    expect(await waiting).toBeUndefined();
    work.reject(new Error("late"));
    expect(await unlessAborted(new Promise(() => {}), controller.signal)).toBeUndefined();
  });
});
