import { describe, expect, it } from "vitest";
import { fakeClock } from "../testing/fake-clock";
import { SubmitGate, type Admission, type MessageConcurrency } from "./submit-gate";

function mayRun(admission: Admission): boolean | Promise<boolean> {
  if (admission.action === "drop") throw new Error("It was dropped.");
  return admission.mayRun();
}

describe("overlapping submits (§3.3)", () => {
  it.each<MessageConcurrency>(["queue", "latest", "merge", "drop", { strategy: "debounce" }])(
    "the first one always runs, at once, and is never superseded: %j",
    (policy) => {
      const gate = new SubmitGate(fakeClock());
      const first = gate.admit(policy, false);
      gate.admit(policy, true);
      expect(mayRun(first)).toBe(true);
    }
  );

  it("queue lets each run, drop none, latest and merge the newest", () => {
    const gate = new SubmitGate(fakeClock());
    expect(["queue", "queue"].map(() => mayRun(gate.admit("queue", true)))).toEqual([true, true]);
    expect(gate.admit("drop", true)).toEqual({ action: "drop" });
    for (const policy of ["latest", "merge"] as const) {
      const submits = [1, 2, 3].map(() => gate.admit(policy, true));
      expect(submits.map(mayRun)).toEqual([false, false, true]);
    }
  });

  it.each([
    [undefined, 750],
    [Number.NaN, 750],
    [Infinity, 750],
    [-1, 750],
    [200, 200]
  ])("debounce of %s waits %i ms from arrival, then only the newest runs", async (debounceMs, wait) => {
    const clock = fakeClock();
    const gate = new SubmitGate(clock);
    const policy = { strategy: "debounce", ...(debounceMs === undefined ? {} : { debounceMs }) } as const;
    const older = gate.admit(policy, true);
    const newer = gate.admit(policy, true);
    expect(await mayRun(older)).toBe(false);
    let decision: boolean | undefined;
    const waiting = Promise.resolve(mayRun(newer)).then((value) => (decision = value));
    await clock.advance(wait - 1);
    expect(decision).toBeUndefined();
    await clock.advance(1);
    await waiting;
    expect(decision).toBe(true);
  });

  it("a clear wakes those who wait; none of them runs, and none of their timers stays", async () => {
    const clock = fakeClock();
    const gate = new SubmitGate(clock);
    const waiting = mayRun(gate.admit({ strategy: "debounce" }, true));
    gate.reset();
    expect(await waiting).toBe(false);
    expect(clock.pending).toBe(0);
    expect(mayRun(gate.admit("latest", true))).toBe(true);
  });
});
