/**
 * The machine in a small world: two tabs, one answer with two calls, a queue of turns. Every order of events up to the bound is tried;
 * worlds that are equal are looked at once.
 */
import { expect, it } from "vitest";
import type { BatchState } from "./batch";
import {
  claimResume,
  NO_CONTINUATION,
  stepContinuation,
  type ContinuationEvent,
  type ContinuationFacts,
  type ContinuationState
} from "./continuation";

type Call = "absent" | "open" | "settled";
type Tab = "one" | "two";

interface World {
  readonly machine: ContinuationState;
  readonly a: Call;
  readonly b: Call;
  /** Whether the model has had, or is having, its say about what was settled. */
  readonly answered: boolean;
  /** The turn that streams, and the one that waits behind it. */
  readonly stage: "free" | "turn" | "continuation";
  readonly queued: string | null;
  readonly turnWaits: boolean;
  readonly timer: boolean;
  readonly tabs: readonly Tab[];
  /** Tabs that were promised an answer and have not got it. */
  readonly owed: readonly Tab[];
  readonly ids: number;
}

const START: World = {
  machine: NO_CONTINUATION,
  ...{ a: "open", b: "absent", answered: false, stage: "turn", queued: null, turnWaits: false, timer: false },
  tabs: ["one", "two"],
  owed: [],
  ids: 0
};

function batch({ a, b, answered }: World): BatchState {
  if (a === "open" || b === "open") return "waiting";
  return answered ? "nothing" : "ready";
}

/** While a turn streams, the stored messages say nothing about its calls: the machine must not rely on them. */
const facts = (world: World): ContinuationFacts =>
  world.stage === "free" ? { streaming: false, batch: batch(world) } : { streaming: true, batch: "ready" };

function dispatch(world: World, event: ContinuationEvent): World {
  const { state, effects } = stepContinuation(world.machine, event);
  let next: World = { ...world, machine: state, owed: owedAfterPromotion(world, event) };
  for (const effect of effects) {
    if (effect.type === "arm") next = { ...next, timer: true };
    if (effect.type === "disarm") next = { ...next, timer: false };
    if (effect.type === "run") {
      expect(facts(world), "runs only on a free stage with a complete batch").toEqual({
        streaming: false,
        batch: "ready"
      });
      expect(world.queued, "never two at once").toBeNull();
      next = { ...next, queued: effect.requestId };
    }
    if (effect.type === "offer" || effect.type === "decline") {
      if (effect.type === "offer")
        expect(world.stage, "offered only when the stream exists").toBe("continuation");
      for (const id of effect.connectionIds) expect(next.tabs, "only to those who are there").toContain(id);
      expect(new Set(effect.connectionIds).size).toBe(effect.connectionIds.length);
      next = { ...next, owed: next.owed.filter((tab) => !effect.connectionIds.includes(tab)) };
    }
  }
  return next;
}

/** A deferred wish becomes the pending one when the continuation is over; from then on its tab waits for an answer. */
function owedAfterPromotion(world: World, event: ContinuationEvent): readonly Tab[] {
  const { running, deferred } = world.machine;
  const isOver =
    event.type === "stage-free"
      ? running?.streaming
      : event.type === "settled" && running?.requestId === event.requestId;
  const owner = world.tabs.find((tab) => isOver && tab === deferred?.owner);
  return owner ? [...new Set([...world.owed, owner])] : world.owed;
}

/** An answer from a tab: the part is settled before the machine hears of it. */
function answer(world: World, call: "a" | "b", tab: Tab, autoContinue: boolean): World | null {
  if (!world.tabs.includes(tab) || world[call] === "absent") return null;
  const newId = `c${world.ids}`;
  const applied: World = { ...world, [call]: "settled", ids: world.ids + 1 };
  if (!autoContinue) return dispatch(applied, { type: "answered", facts: facts(applied) });
  // A wish during a running continuation is promised to nobody before it becomes pending.
  const owed = world.machine.running ? applied.owed : [...new Set([...applied.owed, tab])];
  return dispatch({ ...applied, owed }, { type: "wanted", owner: tab, newId, facts: facts(applied) });
}

function resume(world: World, tab: Tab): World | null {
  if (!world.tabs.includes(tab)) return null;
  const active =
    world.stage === "free"
      ? null
      : world.stage === "turn"
        ? "turn"
        : (world.machine.running?.requestId ?? "gone");
  const claim = claimResume(world.machine, tab, active);
  if (claim.kind === "owned") expect(world.machine.running?.owner, "an owner who is there").not.toBe(tab);
  if (claim.kind !== "hold") return null;
  expect(active, "held only when there is nothing to offer").toBeNull();
  return { ...world, machine: claim.state, owed: [...new Set([...world.owed, tab])] };
}

/** The turn on the stage ends; a continuation's promise settles right after. */
function end(world: World): World | null {
  if (world.stage === "free") return null;
  const running = world.stage === "continuation" ? world.machine.running?.requestId : undefined;
  const free: World = { ...world, stage: "free", ids: world.ids + 2 };
  const left = dispatch(free, { type: "stage-free", newId: `c${world.ids}`, facts: facts(free) });
  if (running === undefined) return left;
  return dispatch(left, {
    type: "settled",
    requestId: running,
    newId: `c${world.ids + 1}`,
    facts: facts(left)
  });
}

/** The queue takes its next item: a user's turn that waits, else the continuation. */
function begin(world: World): World | null {
  if (world.stage !== "free") return null;
  if (world.turnWaits)
    return { ...world, stage: "turn", turnWaits: false, answered: true, a: "settled", b: "settled" };
  const { queued } = world;
  if (queued === null) return null;
  if (batch(world) === "ready") {
    expect(world.answered, "never two continuations for one batch").toBe(false);
    return dispatch(
      { ...world, queued: null, stage: "continuation", answered: true },
      { type: "opened", requestId: queued }
    );
  }
  const skipped: World = { ...world, queued: null, ids: world.ids + 1 };
  return dispatch(skipped, {
    type: "settled",
    requestId: queued,
    newId: `c${world.ids}`,
    facts: facts(skipped)
  });
}

const EVENTS: Readonly<Record<string, (world: World) => World | null>> = {
  "result a": (world) => answer(world, "a", "one", true),
  "failure a": (world) => answer(world, "a", "one", false),
  "result b": (world) => answer(world, "b", "two", true),
  "failure b": (world) => answer(world, "b", "two", false),
  "call b": (world) =>
    world.stage !== "free" && world.b === "absent" ? { ...world, b: "open", answered: false } : null,
  "call a again": (world) =>
    world.stage === "continuation" && world.a === "settled" ? { ...world, a: "open", answered: false } : null,
  "resume one": (world) => resume(world, "one"),
  "resume two": (world) => resume(world, "two"),
  timer: (world) =>
    world.timer ? dispatch({ ...world, timer: false }, { type: "timer", facts: facts(world) }) : null,
  begin,
  end,
  "user message": (world) => (world.turnWaits ? null : { ...world, turnWaits: true }),
  "leave one": (world) => leave(world, "one"),
  clear: (world) => {
    const cleared = dispatch(world, { type: "reset" });
    return { ...cleared, a: "absent", b: "absent", stage: "free", queued: null, turnWaits: false };
  }
};

function leave(world: World, tab: Tab): World | null {
  if (!world.tabs.includes(tab)) return null;
  const without = (list: readonly Tab[]) => list.filter((other) => other !== tab);
  return dispatch(
    { ...world, tabs: without(world.tabs), owed: without(world.owed) },
    { type: "left", connectionId: tab }
  );
}

function check(world: World): void {
  const { machine } = world;
  expect(machine.armed, "the machine knows its timer").toBe(world.timer);
  expect([...machine.awaiting].sort(), "everyone who was promised an answer is remembered").toEqual(
    [...world.owed].sort()
  );
  expect(machine.pending !== null && machine.running !== null, "one at a time").toBe(false);
  if (!machine.pending && !machine.running) {
    expect(world.owed, "nobody waits for nothing").toEqual([]);
    expect(world.timer, "no timer without a wish").toBe(false);
    expect(machine.deferred).toBeNull();
  }
  if (machine.running) expect(world.timer, "no timer while it runs").toBe(false);
  for (const owned of [machine.pending, machine.running, machine.deferred]) {
    if (owned && owned.owner !== null) expect(world.tabs, "no absent owner").toContain(owned.owner);
  }
  // Nothing but an event from outside can be missing: a wish that could run is armed, running, or about to be looked at.
  if (machine.pending && world.stage === "free" && batch(world) === "ready")
    expect(world.timer, "a wish that can run will").toBe(true);
  if (machine.pending && batch(world) === "waiting" && world.stage === "free" && !world.turnWaits) {
    expect(world.timer, "nothing is armed while a person is asked").toBe(false);
  }
}

/** Ids count up for ever; what matters is which of them is which. */
function keyOf({ ids: _ids, ...world }: World): string {
  const names = new Map<string, string>();
  return JSON.stringify(world).replaceAll(/"c\d+"/gu, (id) => {
    if (!names.has(id)) names.set(id, `"id${names.size}"`);
    return names.get(id) ?? id;
  });
}

it("keeps its promises in every order of answers, resume requests, turns, departures and clears (§7.4–§7.6, traps 19–27)", () => {
  const seen = new Set([keyOf(START)]);
  const reached = { runs: 0, deferred: 0, held: 0, dropped: 0 };
  let frontier: readonly { readonly world: World; readonly path: readonly string[] }[] = [
    { world: START, path: [] }
  ];
  while (frontier.length > 0) {
    const next: { world: World; path: readonly string[] }[] = [];
    for (const { world, path } of frontier) {
      for (const [name, apply] of Object.entries(EVENTS)) {
        const steps = [...path, name];
        try {
          const after = apply(world);
          if (!after) continue;
          check(after);
          if (after.stage === "continuation") reached.runs += 1;
          if (after.machine.deferred) reached.deferred += 1;
          if (after.machine.pending && !after.timer) reached.held += 1;
          if (world.machine.pending && !after.machine.pending && !after.machine.running) reached.dropped += 1;
          const key = keyOf(after);
          if (!seen.has(key)) next.push({ world: after, path: steps });
          seen.add(key);
        } catch (error) {
          throw new Error(`After ${steps.join(", ")}: ${String(error)}\n${JSON.stringify(world, null, 1)}`, {
            cause: error
          });
        }
      }
    }
    frontier = next;
  }
  // The exploration is worth something only when it gets everywhere.
  for (const count of Object.values(reached)) expect(count).toBeGreaterThan(10);
});

it("restarts the timer with every further answer, under the same id (§7.4)", () => {
  const ready = { streaming: false, batch: "ready" } as const;
  const first = stepContinuation(NO_CONTINUATION, { type: "wanted", owner: "one", newId: "x", facts: ready });
  expect(first.effects).toEqual([{ type: "arm" }]);
  const second = stepContinuation(first.state, { type: "wanted", owner: "two", newId: "y", facts: ready });
  expect(second.effects).toEqual([{ type: "arm" }]);
  expect(second.state).toMatchObject({ pending: { requestId: "x", owner: "two" }, awaiting: ["one", "two"] });
});

it("keeps the latest of several wishes while a continuation runs (§7.4)", () => {
  const running = { ...NO_CONTINUATION, running: { requestId: "x", owner: "one", streaming: true } };
  const facts = { streaming: true, batch: "waiting" } as const;
  const once = stepContinuation(running, { type: "wanted", owner: "one", newId: "y", facts }).state;
  const twice = stepContinuation(once, { type: "wanted", owner: "two", newId: "z", facts }).state;
  expect(twice.deferred).toEqual({ owner: "two" });
  const over = stepContinuation(twice, {
    type: "stage-free",
    newId: "n",
    facts: { streaming: false, batch: "ready" }
  });
  expect(over.effects).toEqual([{ type: "run", requestId: "n" }]);
  expect(over.state.awaiting).toEqual(["two"]);
});

it("tells those who waited that none comes when the turn never had a stream (§7.6)", () => {
  const running = {
    ...NO_CONTINUATION,
    running: { requestId: "x", owner: "one", streaming: false },
    awaiting: ["one"]
  };
  const facts = { streaming: false, batch: "nothing" } as const;
  const over = stepContinuation(running, { type: "settled", requestId: "x", newId: "n", facts });
  expect(over).toEqual({ state: NO_CONTINUATION, effects: [{ type: "decline", connectionIds: ["one"] }] });
});
