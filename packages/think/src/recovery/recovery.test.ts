/** Recovery with its parts, without the platform: children, owners and stalls (durability.md §3.16, §4, §11.3, trap 5). */
import type { UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import type { ModelStream } from "../loop/sdk";
import { fakeClock } from "../testing/fake-clock";
import { RecoveryWorld, type WorldOptions } from "./recovery-world.test-support";

/** A model that says a word and then nothing more. */
const silent = (): ModelStream => ({
  chunks: new ReadableStream<UIMessageChunk>({
    start(controller) {
      controller.enqueue({ type: "text-start", id: "t" });
      controller.enqueue({ type: "text-delta", id: "t", delta: "Half" });
    }
  }),
  failure: () => undefined
});

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function running(options: Partial<WorldOptions> = {}) {
  const clock = fakeClock();
  const world = new RecoveryWorld({ clock, model: silent, ...options });
  const answered = world.ask("u1", { ownerId: "owner-1" });
  await settle();
  return { world, clock, answered };
}

describe("§3.16 a child's stream", () => {
  it("trap 5: three chunks in a burst are one piece of progress, the next counts after 5 s, a silent child earns none", async () => {
    const { world, clock } = await running();
    const { stream, recovery } = world.isolate;
    const before = stream.progress;
    for (let chunk = 0; chunk < 3; chunk += 1) recovery.childProgress();
    expect(stream.progress).toBe(before + 1);
    await clock.advance(4_999);
    recovery.childProgress();
    expect(stream.progress).toBe(before + 1);
    await clock.advance(1);
    recovery.childProgress();
    expect(stream.progress).toBe(before + 2);
  });

  it("counts at once after a restart, and is what keeps its parent from being given up", async () => {
    const { world, clock } = await running({ setting: { maxAttempts: 1 } });
    world.isolate.recovery.childProgress();
    await world.crash();
    await world.fire();
    await settle();
    world.isolate.recovery.childProgress();
    await clock.advance(31_000);
    await world.crash();
    expect(world.incidents).toMatchObject([{ attempt: 1, status: "scheduled" }]);
  });
});

describe("§11.3 whoever owns a turn", () => {
  it("owns its continuation after a crash", async () => {
    const { world } = await running();
    await world.crash();
    expect(world.planned).toMatchObject([{ payload: { ownerId: "owner-1" } }]);
    await world.fire();
    await settle();
    expect(world.record?.turn).toContain('"ownerId":"owner-1"');
  });

  it("is told of a stall by an outcome of its own, not by an abort, and owns the continuation", async () => {
    const { world, clock, answered } = await running({ stallMs: 1_000 });
    await clock.advance(2_000);
    const result = await answered;
    expect(result).toMatchObject({ status: "interrupted" });
    expect("error" in result && result.error).toBeFalsy();
    expect(world.planned).toMatchObject([{ payload: { ownerId: "owner-1" } }]);
  });

  it("is told with the error when the stall was given up, because nothing will follow", async () => {
    const { world, clock } = await running({ stallMs: 1_000, setting: { maxRecoveryWork: 0 } });
    await clock.advance(2_000);
    await world.fire();
    await clock.advance(2_000);
    await settle();
    expect(world.record).toMatchObject({ status: "error", error: expect.stringContaining("interrupted") });
    expect(world.planned).toEqual([]);
  });
});
