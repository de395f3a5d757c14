// Starts programs and collects their output. The checks print it only when something failed.
import { spawn } from "node:child_process";
import path from "node:path";
import { fromRoot, root } from "./paths.mjs";

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] Folder to run in; the repository root by default.
 * @property {Record<string, string | undefined>} [env] Added to the environment.
 * @property {NodeJS.ProcessEnv} [baseEnvironment] What `env` is added to; this process's environment with our programs by default.
 * @property {(output: string) => boolean} [stopWhen] Ends the program early; asked with all output so far.
 * @property {number} [timeout] Milliseconds after which the program is ended; 20 minutes by default.
 *
 * @typedef {object} RunResult
 * @property {number} code Exit code; 1 when the program was ended by a signal or could not start.
 * @property {string} output Standard output and standard error, in order of arrival.
 * @property {string} stdout Standard output alone.
 */

const twentyMinutes = 20 * 60 * 1000;

/** Time that a program gets to end after it was asked to. */
const graceMs = 5000;

/** This process's environment with the repository's own programs (Node 24 among them) first on the path. */
export function toolEnvironment() {
  const binaries = fromRoot("node_modules", ".bin");
  return { ...process.env, PATH: `${binaries}${path.delimiter}${process.env.PATH ?? ""}` };
}

/**
 * Runs a program to its end. Never rejects: a program that cannot start is a result with code 1.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export function run(command, args, options = {}) {
  const {
    cwd = root,
    env = {},
    baseEnvironment = toolEnvironment(),
    timeout = twentyMinutes,
    stopWhen
  } = options;
  return new Promise((resolve) => {
    // A group of its own, so that a time-out ends the program's children too.
    const child = spawn(command, args, {
      cwd,
      env: { ...baseEnvironment, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true
    });
    let output = "";
    let stdout = "";
    const timer = setTimeout(() => {
      output += `\nStopped: "${path.basename(command)}" ran longer than ${timeout / 1000} s.\n`;
      endGroup(child.pid, "SIGTERM");
      setTimeout(() => endGroup(child.pid, "SIGKILL"), graceMs).unref();
    }, timeout);
    // Politely: the program may have groups of its own to end, and a kill would leave them behind.
    const interrupted = () => endGroup(child.pid, "SIGTERM");
    process.once("exit", interrupted);
    /** @param {Buffer} data */
    const read = (data) => {
      output += data;
      if (stopWhen?.(output) === true) endGroup(child.pid, "SIGKILL");
    };
    child.stdout.on("data", (data) => {
      stdout += data;
      read(data);
    });
    child.stderr.on("data", read);
    child.on("error", (error) => (output += `${error.message}\n`));
    child.on("close", (code) => {
      clearTimeout(timer);
      process.off("exit", interrupted);
      resolve({ code: code ?? 1, output, stdout });
    });
  });
}

/**
 * Sends a signal to a whole process group; a group that is already gone is fine.
 *
 * @param {number | undefined} pid
 * @param {NodeJS.Signals} signal
 */
export function endGroup(pid, signal) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Already gone, which is what was asked for.
  }
}

/**
 * Makes Ctrl-C and a polite kill leave through `exit`, so that every started group is ended on the way out.
 *
 * The listeners stay: a signal often comes twice (from the terminal and from the launcher), and the second one would otherwise kill this
 * process in the middle of its `exit` handlers and leave the groups behind.
 */
export function exitOnSignals() {
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
  process.on("SIGHUP", () => process.exit(129));
}

/**
 * Ends this process when the one that started it is gone: npm does not pass every signal on to what it started.
 *
 * @param {number} [parent] Who started this process. Needed where that may end before this is called: the system has given this process
 * another parent by then.
 */
export function exitWithParent(parent = process.ppid) {
  setInterval(() => {
    if (process.ppid !== parent) process.exit(143);
  }, 500).unref();
}
