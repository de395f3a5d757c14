// `pnpm consumer`: installs the packed package into a new app, type-checks it, bundles it for deployment, starts it and
// says hello over a WebSocket. No account and no key: the model is scripted.
import "./lib/plain-errors.mjs";
import { spawn } from "node:child_process";
import { createConsumerApp } from "./lib/consumer-app.mjs";
import { findAddress } from "./lib/address.mjs";
import { packThink } from "./lib/pack.mjs";
import { bin, think } from "./lib/paths.mjs";
import { endGroup, exitOnSignals, run, toolEnvironment } from "./lib/run.mjs";

const wrangler = bin("wrangler", think);
const quiet = { WRANGLER_SEND_METRICS: "false", NO_COLOR: "1", CI: "1" };
const startLimitMs = 90_000;

/**
 * @param {string} what
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
async function must(what, command, args, cwd) {
  const { code, output, stdout } = await run(command, args, { cwd, env: quiet, timeout: 180_000 });
  if (code !== 0) throw new Error(`${output}\n${what} failed in an app with the packed package.`);
  return stdout;
}

/**
 * Starts the app and resolves with its address.
 *
 * @param {string} cwd
 * @returns {Promise<{ address: string, pid: number | undefined }>}
 */
function startApp(cwd) {
  const args = [
    "dev",
    "--port",
    "0",
    "--inspector-port",
    "0",
    "--ip",
    "127.0.0.1",
    "--show-interactive-dev-session=false"
  ];
  const child = spawn(wrangler, args, {
    cwd,
    env: { ...toolEnvironment(), ...quiet },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  });
  process.once("exit", () => endGroup(child.pid, "SIGKILL"));
  return new Promise((resolve, reject) => {
    let output = "";
    /** @param {string} reason */
    const fail = (reason) => reject(new Error(`${output}\nThe app with the packed package ${reason}.`));
    const timer = setTimeout(() => fail(`did not start within ${startLimitMs / 1000} s`), startLimitMs);
    /** @param {Buffer} data */
    const read = (data) => {
      output += data;
      const address = findAddress(/Ready on.*\n/.exec(output)?.[0] ?? "");
      if (address === undefined) return;
      clearTimeout(timer);
      resolve({ address, pid: child.pid });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", () => fail("ended before it was ready"));
  });
}

exitOnSignals();
const app = await createConsumerApp(await packThink());
await must("The type check", bin("tsc"), ["-p", "tsconfig.app.json", "--pretty", "false"], app);
const bundle = await must("Bundling", wrangler, ["deploy", "--dry-run", "--outdir", "bundle"], app);
const { address } = await startApp(app);
const answer = (await must("Saying hello", bin("node"), ["hello.mjs", address], app)).trim();
if (answer !== "Hello from the packed package.")
  throw new Error(`The app with the packed package answered "${answer}".`);
console.log(
  `A new app type-checks, bundles (${/Total Upload: (.*)/.exec(bundle)?.[1] ?? "size unknown"}) and answers.`
);
process.exit(0);
