import { describe, expect, it } from "vitest";
import { TurnQueue } from "./queue";

describe("the turn queue", () => {
  it("runs one item at a time, in order", async () => {
    const queue = new TurnQueue();
    const log: string[] = [];
    const item = (name: string) =>
      queue.enqueue(async () => {
        log.push(`${name} starts`);
        await Promise.resolve();
        log.push(`${name} ends`);
      });
    await Promise.all([item("a"), item("b"), item("c")]);
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]);
    expect(queue.size).toBe(0);
  });

  it("does not start items of an older generation, and lets the running one finish", async () => {
    const queue = new TurnQueue();
    let finish = () => {};
    const running = queue.enqueue(() => new Promise<string>((resolve) => (finish = () => resolve("done"))));
    const waiting = queue.enqueue(async () => "never");
    await Promise.resolve();
    queue.reset();
    const fresh = queue.enqueue(async () => "fresh");
    finish();
    expect(await running).toEqual({ status: "ran", value: "done" });
    expect(await waiting).toEqual({ status: "stale" });
    expect(await fresh).toEqual({ status: "ran", value: "fresh" });
  });

  it("rejects the caller of a failing item and goes on", async () => {
    const queue = new TurnQueue();
    const failing = queue.enqueue(() => Promise.reject(new Error("boom")));
    const next = queue.enqueue(async () => 1);
    await expect(failing).rejects.toThrow("boom");
    expect(await next).toEqual({ status: "ran", value: 1 });
  });
});
