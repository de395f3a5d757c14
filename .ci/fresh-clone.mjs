// Proves the two commands on a fresh clone with only the system's Node and npm: `npm start` until its page answers,
// then `npm test`. `--only=start` and `--only=test` run one of them. Sees committed files only.
import "./lib/plain-errors.mjs";
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { pageAt } from "./lib/address.mjs";
import { fillBarePath } from "./lib/bare-path.mjs";
import { root } from "./lib/paths.mjs";
import { endGroup, exitOnSignals, run } from "./lib/run.mjs";

const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const startLimitMs = 10 * 60 * 1000;
const testLimitMs = 30 * 60 * 1000;
/** For a machine that is busy with other things: the start script needs a moment of it to end its server. */
const goneLimitMs = 60 * 1000;

/** Ends what `npm start` has started, as long as there is something. */
let stopServer = () => {};

/**
 * The environment of a new terminal: nothing that npm, pnpm or this repository has set.
 *
 * @param {string} programs
 */
function bareEnvironment(programs) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|NODE|INIT_CWD|VITEST|CI$|PORT$)/i.test(name)
  );
  return { ...Object.fromEntries(kept), PATH: programs, THINK_NESTED: "1" };
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/**
 * `npm start` until the address it prints answers with the page; then everything it started is ended.
 *
 * @param {string} clone
 * @param {NodeJS.ProcessEnv} env
 */
async function proveStart(clone, env) {
  const child = spawn("npm", ["start"], {
    cwd: clone,
    env: { ...env, PORT: String(await freePort()) },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  });
  // Politely, so that the start script can end the server, which has a group of its own.
  stopServer = () => endGroup(child.pid, "SIGTERM");
  let output = "";
  /** @type {string} */
  const address = await new Promise((resolve, reject) => {
    /** @param {string} reason */
    const fail = (reason) => reject(new Error(`${output}\n\`npm start\` in a fresh clone ${reason}.`));
    const timer = setTimeout(() => fail(`was not ready after ${startLimitMs / 1000} s`), startLimitMs);
    /** @param {Buffer} data */
    const read = (data) => {
      output += data;
      const ready = /ready: open (http\S+)/.exec(output)?.[1];
      if (ready === undefined) return;
      clearTimeout(timer);
      resolve(ready);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", () => fail("ended by itself"));
  });
  const page = await pageAt(address, 60_000);
  if (!/<html/i.test(page))
    throw new Error(`${address} answered, but not with a page:\n${page.slice(0, 500)}`);
  child.removeAllListeners("exit");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  endGroup(child.pid, "SIGINT");
  await ended;
  // No kill before this proof: npm ends at once, and a kill would overtake the script that is just ending its server.
  await proveGone(address);
  stopServer();
  stopServer = () => {};
}

/**
 * Ctrl-C must end everything, the server too.
 *
 * @param {string} address
 */
async function proveGone(address) {
  const deadline = Date.now() + goneLimitMs;
  while (Date.now() < deadline) {
    // Who takes the connection and says nothing is still there.
    const alive = await fetch(address, { signal: AbortSignal.timeout(5000) }).then(
      () => true,
      (error) => error.name === "TimeoutError"
    );
    if (!alive) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${address} still answers after \`npm start\` was interrupted.`);
}

/**
 * @param {string} clone
 * @param {NodeJS.ProcessEnv} env
 */
async function proveTest(clone, env) {
  const { code, output } = await run("npm", ["test"], {
    cwd: clone,
    baseEnvironment: env,
    timeout: testLimitMs
  });
  if (code !== 0) throw new Error(`${output}\n\`npm test\` failed in a fresh clone.`);
  return output.trim().split("\n").at(-1);
}

exitOnSignals();
const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "think-fresh-"));
process.once("exit", () => {
  // First the server, then its files; a folder that cannot be removed must not keep the server alive.
  stopServer();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});
const programs = path.join(folder, "bin");
fillBarePath(programs);
const env = bareEnvironment(programs);
const clone = path.join(folder, "think");
const cloned = await run("git", [
  "clone",
  "--quiet",
  "--no-hardlinks",
  "--depth",
  "1",
  `file://${root}`,
  clone
]);
if (cloned.code !== 0)
  throw new Error(`${cloned.output}\nThe repository could not be cloned: does it have a commit?`);

const started = performance.now();
/** @type {string[]} */
const proofs = [];
if (only !== "test") {
  await proveStart(clone, env);
  proofs.push("`npm start` serves the page");
}
if (only !== "start") proofs.push(`\`npm test\` says "${await proveTest(clone, env)}"`);
console.log(
  `In a fresh clone ${proofs.join(" and ")} (${Math.round((performance.now() - started) / 1000)} s).`
);
process.exit(0);
