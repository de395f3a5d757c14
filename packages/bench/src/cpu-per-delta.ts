/**
 * CPU per delta of each side, alternating in one process: machines differ, and a machine differs from one minute to the next, so only ratios
 * within a run mean anything.
 */
import { connect } from "./clients.ts";
import { print, table } from "./report.ts";
import { sum, Usage } from "./usage.ts";
import type { Runtime } from "./workerd.ts";

/** The most that Think may use, as a multiple of the bare object. */
const GOAL = 1.08;

/** What is measured: a name, and where its objects are. The second is what the others are compared with. */
const SIDES = [
  { name: "Think", path: "agents/chat" },
  { name: "a bare Durable Object", path: "bare" },
  { name: "the same with a turn's settings", path: "bare-as-turn" }
] as const;

type Side = (typeof SIDES)[number];

/** Turns in which the code is compiled; not counted. */
const WARM_UP = 4;

export interface CpuOptions {
  readonly clients: number;
  /** Turns of each side. */
  readonly pairs: number;
  readonly deltas: number;
  /** Whether the bare object is also measured with the settings that a turn passes to the SDK. */
  readonly withSettings: boolean;
}

export async function cpuPerDelta(runtime: Runtime, options: CpuOptions): Promise<void> {
  const sides = options.withSettings ? SIDES : SIDES.slice(0, 2);
  const used = new Map(sides.map((side) => [side, [] as number[]]));
  const usage = new Usage(runtime.pid);
  for (let turn = 0; turn < options.pairs + WARM_UP; turn += 1) {
    // Who comes first changes with each turn.
    for (const index of sides.keys()) {
      const side = sides[(index + turn) % sides.length];
      if (!side) continue;
      const cpuMs = await oneTurn(runtime, usage, side, options);
      if (turn >= WARM_UP) used.get(side)?.push(cpuMs);
    }
  }
  report(used, options);
}

/** A turn of a new object; what it cost to make the object and to connect is not part of it. */
async function oneTurn({ url }: Runtime, usage: Usage, { path }: Side, options: CpuOptions): Promise<number> {
  const clients = await connect(`${url}/${path}/${crypto.randomUUID()}`, options.clients);
  await usage.rest();
  const before = usage.cpuMs();
  await clients.ask({ deltas: options.deltas, pauseMs: 0 });
  await usage.rest();
  const used = usage.cpuMs() - before;
  clients.close();
  await usage.rest();
  return used;
}

function report(used: ReadonlyMap<Side, readonly number[]>, options: CpuOptions): void {
  const { clients, pairs, deltas } = options;
  const bare = used.get(SIDES[1]) ?? [];
  const rows = [...used].map(([{ name }, turns]) => [
    name,
    ((sum(turns) * 1000) / (turns.length * deltas)).toFixed(0),
    (sum(turns) / sum(bare)).toFixed(3),
    median(turns.map((cpuMs, turn) => cpuMs / (bare[turn] ?? Number.NaN))).toFixed(3)
  ]);
  const tabs = `${clients} ${clients === 1 ? "client" : "clients"}`;
  print(`CPU per delta, ${tabs}, ${pairs} turns of ${deltas} deltas each`);
  print(table([["", "µs per delta", "ratio of sums", "median ratio"], ...rows]));
  print(`Goal: Think at most ${GOAL} of the bare object.\n`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
}
