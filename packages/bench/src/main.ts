/** `pnpm bench [cpu|bytes|files]`: starts one runtime and measures. See the README for what the figures mean. */
import { parseArgs } from "node:util";
import { cpuPerDelta, type CpuOptions } from "./cpu-per-delta.ts";
import { databaseBytes } from "./database-bytes.ts";
import { fileCosts } from "./file-costs.ts";
import { startRuntime } from "./workerd.ts";

const USAGE = `pnpm bench [cpu] [--clients N] [--pairs N] [--deltas N] [--settings]
pnpm bench bytes [--turns N]
pnpm bench files [--files N]`;

/** What is measured without further words, and the number of turns that gives a steady ratio. */
const DEFAULT_RUNS = [
  { clients: 1, pairs: 20 },
  { clients: 50, pairs: 10 }
];

const MEASUREMENTS: ReadonlySet<string> = new Set(["cpu", "bytes", "files"]);

const FILES = [1_000, 10_000];

type Flag = "clients" | "pairs" | "deltas" | "turns" | "files";

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      clients: { type: "string" },
      pairs: { type: "string" },
      deltas: { type: "string" },
      turns: { type: "string" },
      files: { type: "string" },
      settings: { type: "boolean", default: false }
    }
  });
  const count = (flag: Flag, otherwise: number): number => {
    const value = Number(values[flag] ?? otherwise);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${flag} takes a number from 1 up.`);
    return value;
  };
  const { clients } = values;
  const runs = clients === undefined ? DEFAULT_RUNS : [{ clients: count("clients", 1), pairs: 20 }];
  const cpu: CpuOptions[] = runs.map((run) => ({
    clients: run.clients,
    pairs: count("pairs", run.pairs),
    deltas: count("deltas", 3000),
    withSettings: values.settings
  }));
  const files = values.files === undefined ? FILES : [count("files", 1)];
  return { what: positionals[0] ?? "cpu", cpu, turns: count("turns", 3), files };
}

async function measure(): Promise<void> {
  const { what, cpu, turns, files } = readArguments();
  if (!MEASUREMENTS.has(what)) throw new Error(`There is no measurement "${what}".`);
  const runtime = await startRuntime();
  if (what === "bytes") return databaseBytes(runtime, turns);
  if (what === "files") for (const number of files) await fileCosts(runtime, number);
  else for (const run of cpu) await cpuPerDelta(runtime, run);
}

// Whatever ends this process, its exit listeners end the runtime and remove the folder.
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(143));
process.on("SIGHUP", () => process.exit(129));

try {
  await measure();
  process.exit(0);
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(1);
}
