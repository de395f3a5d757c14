/** The engine of turns on a fake clock: what is left behind, what keeps the object alive, what a failing store does. */
import type { UIMessageChunk } from "ai";
import { describe, expect, it, vi } from "vitest";
import type { ModelStream } from "../loop/sdk";
import { LIMITS } from "../shared/limits";
import { fakeClock } from "../testing/fake-clock";
import type { Turn, TurnOutcome } from "./turn";
import { Turns } from "./turns";
import type { TurnsOptions } from "./turn-parts";

const HELLO = [
  { type: "start" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "Hello" }
] as const satisfies UIMessageChunk[];

/** A model that says hello and then ends, or waits until it is stopped. */
function hello(stays: boolean): ModelStream {
  const chunks = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of HELLO) controller.enqueue(chunk);
      if (!stays) controller.close();
    }
  });
  return { chunks, failure: () => undefined };
}

function world({ stays = false, ...overrides }: Partial<TurnsOptions> & { readonly stays?: boolean } = {}) {
  const clock = fakeClock();
  const told: string[] = [];
  const said = Promise.withResolvers<void>();
  const turns = new Turns({
    clock,
    ids: clock.ids,
    openSink: () => ({
      chunk: (chunk) => void (chunk.type === "text-delta" && said.resolve()),
      foreignTool: () => undefined,
      restart: () => undefined,
      save: () => void told.push("saved"),
      end: (outcome: TurnOutcome) => void told.push(outcome.status)
    }),
    startModel: async (_turn: Turn) => hello(stays),
    reportFailure: (error) => ({ text: String(error), error }),
    responded: async ({ outcome }) => void told.push(`hook ${outcome.status}, ${turns.cancellable} open`),
    idle: () => undefined,
    keepAlive: async () => () => undefined,
    keepAliveAfterMs: () => LIMITS.keepAliveAfterMs,
    within: (_turn, work) => work(),
    rescue: {
      stallTimeoutMs: () => 0,
      stalled: async () => undefined,
      failed: async () => ({ action: "fail" })
    },
    ...overrides
  });
  return { clock, turns, told, said: said.promise };
}

describe("a turn leaves nothing behind (§3.2, trap 13)", () => {
  it("when it completes, is stopped before or in mid-stream, fails, or was cleared while it waited", async () => {
    const done = world();
    await done.turns.run({ requestId: "a" });
    await done.turns.run({ requestId: "b", signal: AbortSignal.abort() });
    expect(done.told).toEqual([
      "saved",
      "completed",
      "hook completed, 0 open",
      "aborted",
      "hook aborted, 0 open"
    ]);
    const stopped = world({ stays: true });
    const running = stopped.turns.run({ requestId: "a" });
    const waiting = stopped.turns.run({ requestId: "b" });
    await stopped.said;
    stopped.turns.reset();
    expect([(await running).status, (await waiting).status]).toEqual(["aborted", "skipped"]);
    const failed = world({
      openSink: () => {
        throw new Error("disk full");
      }
    });
    await expect(failed.turns.run({ requestId: "a" })).rejects.toThrow("disk full");
    for (const { turns, clock } of [done, stopped, failed])
      expect([turns.cancellable, turns.size, turns.live, clock.pending]).toEqual([0, 0, undefined, 0]);
  });

  it("keeps the object alive only when it lasts, and no longer than it lasts (§4.4.14)", async () => {
    const holds: string[] = [];
    const keepAlive = async () => {
      holds.push("held");
      return () => void holds.push("released");
    };
    const short = world({ keepAlive });
    await short.turns.run({ requestId: "a" });
    expect(holds).toEqual([]);
    const long = world({ keepAlive, stays: true });
    const running = long.turns.run({ requestId: "a" });
    await long.said;
    await long.clock.advance(LIMITS.keepAliveAfterMs);
    expect(holds).toEqual(["held"]);
    long.turns.cancel("a");
    await running;
    await Promise.resolve();
    expect(holds).toEqual(["held", "released"]);
  });

  it("goes on when the object cannot be kept alive", async () => {
    const { turns, clock, said } = world({
      keepAlive: () => Promise.reject(new Error("no alarm")),
      stays: true
    });
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const running = turns.run({ requestId: "a" });
    await said;
    await clock.advance(LIMITS.keepAliveAfterMs);
    turns.cancel("a");
    expect((await running).status).toBe("aborted");
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
  });

  it("ends a turn, once, whose rescue fails itself (I1)", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const broken = () => Promise.reject(new Error("no storage"));
    const stuck = world({
      stays: true,
      rescue: { stallTimeoutMs: () => 1_000, stalled: broken, failed: broken }
    });
    const running = stuck.turns.run({ requestId: "a" });
    await stuck.said;
    await stuck.clock.advance(1_000);
    expect(await running).toMatchObject({ status: "error", error: expect.stringContaining("stalled") });
    const failing = world({
      startModel: async () => ({
        chunks: new ReadableStream<UIMessageChunk>({
          start: (controller) => controller.enqueue({ type: "error", errorText: "too long" })
        }),
        failure: () => undefined
      }),
      rescue: { stallTimeoutMs: () => 0, stalled: broken, failed: broken }
    });
    expect(await failing.turns.run({ requestId: "a" })).toMatchObject({ status: "error" });
    for (const { told } of [stuck, failing]) expect(told.filter((word) => word === "error")).toHaveLength(1);
    expect(logged).toHaveBeenCalledTimes(2);
    logged.mockRestore();
  });

  it("asks for a structured output once, so that its failure is handled (§5.2.3)", async () => {
    let asked = 0;
    const output = () => {
      asked += 1;
      return Promise.reject(new Error("does not fit"));
    };
    const { turns } = world({
      startModel: async () => Object.defineProperty(hello(false), "output", { get: output })
    });
    expect((await turns.run({ requestId: "a" })).status).toBe("error");
    expect(asked).toBe(1);
  });
});

it("an answer that cannot be stored fails its turn, once, and not the next (§5.2)", async () => {
  const told: string[] = [];
  let isFull = true;
  const { turns } = world({
    openSink: () => ({
      chunk: () => undefined,
      foreignTool: () => undefined,
      restart: () => undefined,
      save: () => {
        if (isFull) throw new Error("disk full");
      },
      end: (outcome) => void told.push(outcome.status === "error" ? outcome.error : outcome.status)
    })
  });
  expect((await turns.run({ requestId: "a" })).status).toBe("error");
  isFull = false;
  expect((await turns.run({ requestId: "b" })).status).toBe("completed");
  expect(told).toEqual(["Error: disk full", "completed"]);
});
