// `pnpm verify`: every check, in order; suites that mostly wait run two at a time. Goes on after a failure with all
// that can still run, shows the output of what failed, and closes with the line `N passed, N failed`.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { exitOnSignals, run } from "./lib/run.mjs";
import { runInOrder } from "./lib/schedule.mjs";
import { none, stepTally, sum, tallyOf } from "./lib/tally.mjs";
import { freshClone, steps } from "./steps.mjs";

/** @typedef {import("./lib/tally.mjs").Tally} Tally */

/** A step that takes longer hangs. Today the slowest takes about three minutes. */
const stepLimitMs = 10 * 60 * 1000;

/** @param {string | undefined} report */
function readTally(report) {
  if (report === undefined || !existsSync(report)) return none;
  try {
    return tallyOf(JSON.parse(readFileSync(report, "utf8")));
  } catch {
    return none;
  }
}

/**
 * @param {import("./steps.mjs").Step} step
 * @returns {Promise<{ ok: boolean, output: string, tally: Tally }>}
 */
async function runStep(step) {
  if (step.report !== undefined) rmSync(step.report, { force: true });
  const { code, output } = await run(step.command, step.args, {
    env: { NO_COLOR: "1", FORCE_COLOR: undefined },
    timeout: stepLimitMs
  });
  const tally = readTally(step.report);
  if (tally.skipped > 0) {
    const reason = `${tally.skipped} tests were skipped: run them, fix them or delete them.`;
    return { ok: false, output: `${output}\n${reason}`, tally: stepTally(false, tally) };
  }
  return { ok: code === 0, output, tally: stepTally(code === 0, tally) };
}

/** @param {string} output */
const lastLine = (output) => output.trim().split("\n").at(-1) ?? "";

exitOnSignals();
const wanted = process.argv.slice(2);
const nested = process.env.THINK_NESTED !== undefined;
const all = process.env.CI === "true" && !nested ? [...steps, freshClone] : steps;
const chosen =
  wanted.length === 0 ? all : all.filter(({ name }) => wanted.some((word) => name.includes(word)));

/** @type {Set<string>} */
const failed = new Set();
/** @type {Tally[]} */
const tallies = [];

/** @param {import("./steps.mjs").Step} step */
async function runAndTell(step) {
  const missing = (step.needs ?? []).filter((name) => failed.has(name));
  if (missing.length > 0) {
    failed.add(step.name);
    console.log(`-  ${step.name}: not run, because "${missing.join()}" failed`);
    return;
  }
  const started = performance.now();
  const { ok, output, tally } = await runStep(step);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  tallies.push(tally);
  const detail =
    step.report === undefined
      ? ok
        ? lastLine(output)
        : ""
      : `${tally.passed} passed, ${tally.failed} failed`;
  console.log(`${ok ? "ok" : "X "} ${step.name} (${seconds} s)${detail === "" ? "" : `: ${detail}`}`);
  if (!ok) {
    failed.add(step.name);
    console.log(`\n${output.trim().replace(/^/gm, "   | ")}\n`);
  }
}

await runInOrder(chosen, (step) => step.waits === true, runAndTell);

const total = sum(tallies);
if (failed.size > 0) console.log(`Failed: ${[...failed].join(", ")}.`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(failed.size === 0 ? 0 : 1);
