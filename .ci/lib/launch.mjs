// `npm start` and `npm test`: install, then hand over to the real script on Node 24.
// Runs on the system's Node (18 or newer): Node's own modules only.
import { spawn } from "node:child_process";
import { ensureInstalled } from "./install.mjs";
import { bin, fromRoot, root } from "./paths.mjs";
import { exitOnSignals, exitWithParent, toolEnvironment } from "./run.mjs";

/** @type {Readonly<Record<string, string>>} */
const scripts = { start: ".ci/start.mjs", verify: ".ci/verify.mjs" };

/**
 * Replaces this process, as far as Node can: same terminal, signals passed on, same exit code.
 *
 * @param {string} script
 */
function handOver(script) {
  const child = spawn(bin("node"), [fromRoot(script), ...process.argv.slice(3)], {
    cwd: root,
    env: { ...toolEnvironment(), THINK_LAUNCHER: String(process.pid) },
    stdio: "inherit"
  });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    const before = process.listeners(signal);
    process.on(signal, () => child.kill(signal));
    // In this order: without a listener for a moment, a signal would end this process and leave the child behind.
    for (const listener of before) process.off(signal, listener);
  }
  child.on("error", (error) => {
    console.error(
      `Node 24 could not be started (${error.message}): delete node_modules and run the command again.`
    );
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
}

/**
 * @param {string | undefined} command `start` or `verify`.
 */
export async function main(command) {
  const script = scripts[command ?? ""];
  if (script === undefined) {
    console.error(`Unknown command "${command}": use "npm start" or "npm test".`);
    process.exitCode = 1;
    return;
  }
  exitOnSignals();
  if (command === "start") exitWithParent();
  const failure = await ensureInstalled();
  if (failure !== undefined) {
    console.error(failure);
    process.exitCode = 1;
    return;
  }
  handOver(script);
}
