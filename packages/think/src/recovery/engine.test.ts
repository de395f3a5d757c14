/** The decisions of recovery, durability.md §3.5–3.9 and traps 1–9. */
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import fc from "fast-check";
import {
  abandon,
  advanceIncident,
  keepsPartial,
  recoveryKind,
  verdict,
  type Advance,
  type Evidence
} from "./engine";
import { resolveRecovery, type ChatRecoveryConfig } from "./config";
import { incidentIdOf, type Incident } from "./incident";

const bounds = (config: ChatRecoveryConfig = {}) => {
  const resolved = resolveRecovery(config);
  if (!resolved) throw new Error("recovery is off");
  return resolved;
};

const evidence = (changes: Partial<Evidence> = {}): Evidence => ({
  requestId: "r1",
  rootRequestId: "r1",
  latestUserMessageId: "u1",
  kind: "continue",
  sessionId: "",
  progress: 0,
  waitingOnHuman: false,
  now: 0,
  ...changes
});

/** Detections one after another. */
function detections(steps: readonly Partial<Evidence>[], config: ChatRecoveryConfig = {}): Advance[] {
  const seen: Advance[] = [];
  let incident: Incident | null = null;
  for (const step of steps) {
    const advance = advanceIncident(incident, evidence(step), bounds(config));
    seen.push(advance);
    incident = advance.incident;
  }
  return seen;
}

const attempts = (advances: readonly Advance[]) => advances.map(({ incident }) => incident.attempt);
const seconds = (...times: readonly number[]) => times.map((time) => ({ now: time * 1_000 }));

describe("§3.6 attempts", () => {
  it("trap 1: detections at 0, 5, 12 and 20 s are attempt 1, one at 60 s is attempt 2: the window slides", () => {
    expect(attempts(detections(seconds(0, 5, 12, 20, 60)))).toEqual([1, 1, 1, 1, 2]);
  });

  it("trap 2: with maxAttempts 1 the second counted detection exhausts, with attempt 2 stored", () => {
    const [first, second] = detections(seconds(0, 31), { maxAttempts: 1 });
    expect(first?.exhausted).toBeNull();
    expect(second?.exhausted).toBe("max_attempts_exceeded");
    expect(second?.incident).toMatchObject({
      attempt: 2,
      status: "exhausted",
      reason: "max_attempts_exceeded"
    });
  });

  it("trap 3: retry and continue of one turn share one record and one budget", () => {
    const [first, second] = detections([
      { kind: "retry", now: 0 },
      { kind: "continue", now: 40_000, requestId: "r2" }
    ]);
    expect(second?.incident.incidentId).toBe(first?.incident.incidentId);
    expect(attempts([first, second] as Advance[])).toEqual([1, 2]);
  });

  it("start again at 1 after durable progress", () => {
    const advances = detections([{ now: 0 }, { now: 40_000 }, { now: 80_000, progress: 3 }]);
    expect(attempts(advances)).toEqual([1, 2, 1]);
  });
});

describe("§3.6 bounds", () => {
  it("trap 6: an incident of 30 minutes with fresh progress goes on and carries no reason", () => {
    const last = detections([{ now: 0 }, { now: 1_800_000, progress: 1 }]).at(-1);
    expect(last?.exhausted).toBeNull();
    expect(last?.incident).toMatchObject({ attempt: 1, status: "attempting" });
    expect(last?.incident.reason).toBeUndefined();
  });

  it("trap 6: work beyond its limit seals although each write was progress", () => {
    const last = detections([{ now: 0 }, { now: 1_000, progress: 3 }], { maxRecoveryWork: 2 }).at(-1);
    expect(last?.exhausted).toBe("work_budget_exceeded");
  });

  it("§11.14: the work of one incident is finite unless the author says otherwise", () => {
    expect(bounds().maxRecoveryWork).toBe(1_000);
    expect(bounds({ maxRecoveryWork: Infinity }).maxRecoveryWork).toBe(Infinity);
    expect(bounds({ maxRecoveryWork: -1 }).maxRecoveryWork).toBe(1_000);
  });

  it("standstill seals, and only when it is longer than the timeout", () => {
    const at = (now: number) =>
      detections([{ now: 0 }, { now }], { noProgressTimeoutMs: 60_000 }).at(-1)?.exhausted;
    expect(at(60_000)).toBeNull();
    expect(at(60_001)).toBe("no_progress_timeout");
  });

  it("the reasons have an order: work, standstill, author, attempts", () => {
    const config = { maxAttempts: 1, noProgressTimeoutMs: 10, maxRecoveryWork: 0 };
    const both = detections([{ now: 0 }, { now: 40_000, progress: 1 }], config).at(-1);
    expect(both?.exhausted).toBe("work_budget_exceeded");
    const still = detections(seconds(0, 40), { maxAttempts: 1, noProgressTimeoutMs: 10 }).at(-1);
    expect(still?.exhausted).toBe("no_progress_timeout");
    const asked = detections(seconds(0, 40), { maxAttempts: 1 }).at(-1);
    expect(asked?.ask).not.toBeNull();
    expect(asked && abandon(asked).exhausted).toBe("recovery_aborted");
  });

  it("the author is asked only about a known incident that no bound has ended", () => {
    const [first, second] = detections([{ now: 0 }, { now: 40_000, progress: 2 }]);
    expect(first?.ask).toBeNull();
    expect(second?.ask).toMatchObject({ attempt: 1, work: 2, ageMs: 40_000, recoveryRootRequestId: "r1" });
  });

  it("trap 7: while a person is asked no budget is used: 30 days and 10 evictions later it is attempt 1", () => {
    const day = 86_400_000;
    const waiting = Array.from({ length: 10 }, (_, index) => ({
      now: index * 3 * day,
      waitingOnHuman: true
    }));
    const advances = detections(waiting, { maxAttempts: 10 });
    expect(advances.every(({ exhausted, ask }) => exhausted === null && ask === null)).toBe(true);
    expect(new Set(attempts(advances))).toEqual(new Set([1]));
  });

  it("records without the newer fields fall back", () => {
    const old: Incident = {
      ...{ incidentId: incidentIdOf("r1", "u1"), requestId: "r1", recoveryKind: "continue", attempt: 1 },
      ...{ maxAttempts: 10, status: "scheduled", firstSeenAt: 0, lastAttemptAt: 0 }
    };
    const { incident, exhausted } = advanceIncident(old, evidence({ now: 40_000, progress: 7 }), bounds());
    expect(incident).toMatchObject({ attempt: 2, workBaseline: 7, lastProgressAt: 0 });
    expect(exhausted).toBeNull();
  });
});

it("§3.6 every sequence of detections ends: without progress within the attempts, with it within the work", () => {
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 90_000 }),
    gained: fc.integer({ min: 0, max: 2 })
  });
  const steps = fc.array(step, { minLength: 400, maxLength: 400 });
  fc.assert(
    fc.property(steps, (list) => {
      let now = 0;
      let progress = 0;
      let incident: Incident | null = null;
      for (const { wait, gained } of list) {
        now += wait;
        progress += gained;
        const next = advanceIncident(incident, evidence({ now, progress }), bounds({ maxRecoveryWork: 50 }));
        expect(next.incident.attempt).toBeGreaterThanOrEqual(1);
        if (next.exhausted) return;
        incident = next.incident;
      }
      // Only standing still inside the debounce window for ever would get here, and that is bounded by the clock.
      expect(now - (incident?.lastProgressAt ?? 0)).toBeLessThanOrEqual(300_000);
    }),
    { seed: 6, numRuns: 200 }
  );
});

describe("the engine", () => {
  it("is a function of what it is given: frozen input, the same answer each time, whatever the clock says", () => {
    const kinds = fc.constantFrom("retry" as const, "continue" as const);
    const times = fc.integer({ min: 0, max: 1_000_000 });
    const seen = fc.record({ kind: kinds, now: times, progress: fc.nat(20), waitingOnHuman: fc.boolean() });
    vi.useFakeTimers();
    fc.assert(
      fc.property(seen, seen, (first, second) => {
        const settings = Object.freeze(bounds({ maxAttempts: 2, maxRecoveryWork: 5 }));
        const previous = Object.freeze(
          advanceIncident(null, Object.freeze(evidence(first)), settings).incident
        );
        const given = Object.freeze(evidence(second));
        const once = advanceIncident(previous, given, settings);
        vi.setSystemTime(Date.now() + 86_400_000);
        expect(advanceIncident(previous, given, settings)).toEqual(once);
      }),
      { seed: 7, numRuns: 300 }
    );
    vi.useRealTimers();
  });

  it("imports settings, records and limits, and nothing that could do anything", () => {
    const engineSource = readFileSync(`${import.meta.dirname}/engine.ts`, "utf8");
    const imported = [...engineSource.matchAll(/from "([^"]+)"/gu)].map(([, from]) => from);
    expect(new Set(imported)).toEqual(new Set(["../shared/limits", "./config", "./incident"]));
    expect(engineSource).not.toMatch(/\bawait\b|\basync\b|Date\.|Math\.random|console\./u);
  });
});

describe("§3.7 how a turn goes on", () => {
  it("§11.1, §11.2: nothing recoverable and the question still waits is a retry", () => {
    const remains = { hasPartial: false, continuation: false, isUnchanged: true, leafRole: "user" };
    expect(recoveryKind(remains)).toBe("retry");
    expect(recoveryKind({ ...remains, isUnchanged: false })).toBe("retry");
    expect(recoveryKind({ ...remains, isUnchanged: false, leafRole: "assistant" })).toBeNull();
  });

  it("an answer that exists is carried on; a continuation carries on from the answer before it", () => {
    const remains = { hasPartial: true, continuation: false, isUnchanged: true, leafRole: "user" };
    expect(recoveryKind(remains)).toBe("continue");
    expect(recoveryKind({ ...remains, hasPartial: false, continuation: true, leafRole: "assistant" })).toBe(
      "continue"
    );
    expect(recoveryKind({ ...remains, hasPartial: false, continuation: true })).toBeNull();
  });

  it("the author's no comes first", () => {
    expect(verdict("retry", false)).toEqual({ action: "disabled" });
    expect(verdict(null, true)).toEqual({ action: "skip", reason: "not_recoverable" });
    expect(verdict("continue", true)).toEqual({ action: "schedule", kind: "continue" });
  });

  it("trap 9: settled work is kept whatever the author says", () => {
    const settled = { type: "tool-add", toolCallId: "1", state: "output-available" };
    const open = { type: "tool-add", toolCallId: "1", state: "input-available" };
    expect(keepsPartial(false, [{ type: "text" }, open])).toBe(false);
    expect(keepsPartial(false, [{ type: "text" }, settled])).toBe(true);
    expect(keepsPartial(true, [])).toBe(true);
  });
});

describe("§3.2 settings", () => {
  it("call the author's functions on the settings object", async () => {
    const config = {
      terminalMessage: "Mine.",
      asked: [] as string[],
      onExhausted(this: { terminalMessage: string; asked: string[] }) {
        this.asked.push(this.terminalMessage);
      }
    };
    await bounds(config).onExhausted?.({} as never);
    expect(config.asked).toEqual(["Mine."]);
  });

  it("are floored, have a least value, and fall back when they are no numbers", () => {
    expect(resolveRecovery(false)).toBeNull();
    expect(bounds({ maxAttempts: 0.5 }).maxAttempts).toBe(1);
    expect(bounds({ maxAttempts: Number.NaN }).maxAttempts).toBe(10);
    expect(bounds({ stableTimeoutMs: -5, noProgressTimeoutMs: 1.9 })).toMatchObject({
      stableTimeoutMs: 0,
      noProgressTimeoutMs: 1
    });
  });
});
