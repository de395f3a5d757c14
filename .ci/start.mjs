// `npm start`, after the install: builds the package if it is stale, serves an example, prints its address. The example is the assistant, or
// the one that is named: `npm start -- agents-as-tools`.
// Invariant: whatever ends this process (Ctrl-C, a kill, the server's own end) also ends the server's whole group; where it cannot do that
// itself, the guard does.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { ensureBuilt } from "./lib/build.mjs";
import { answeringAddress } from "./lib/address.mjs";
import { chosenExample } from "./lib/examples.mjs";
import { bin, fromRoot } from "./lib/paths.mjs";
import { portProblem } from "./lib/port.mjs";
import { endGroup, exitOnSignals, exitWithParent, toolEnvironment } from "./lib/run.mjs";

const startLimitMs = 120_000;

/**
 * @param {string} example The example's folder.
 * @returns {import("node:child_process").ChildProcess & { stdout: import("node:stream").Readable, stderr: import("node:stream").Readable }}
 */
function startServer(example) {
  const port = process.env.PORT;
  const args = port === undefined || port === "" ? [] : ["--port", port, "--strictPort"];
  const guard = fromRoot(".ci", "lib", "guard.mjs");
  const child = spawn(process.execPath, [guard, String(process.pid), bin("vite", example), ...args], {
    cwd: example,
    env: { ...toolEnvironment(), FORCE_COLOR: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  });
  process.once("exit", () => endGroup(child.pid, "SIGKILL"));
  return child;
}

async function main() {
  exitOnSignals();
  // A script that is started by hand has no launcher.
  exitWithParent(Number(process.env.THINK_LAUNCHER) || process.ppid);
  const problem = await portProblem(process.env.PORT);
  if (problem !== undefined) throw new Error(problem);
  const { name, folder } = chosenExample(process.argv[2]);
  if (!existsSync(bin("vite", folder))) {
    throw new Error(
      `The example in examples/${name} is not installed: delete node_modules and run \`npm start\` again.`
    );
  }
  const built = await ensureBuilt();
  if (!built.ok)
    throw new Error(
      `${built.output}\nThe package could not be built: fix the error above and run \`npm start\` again.`
    );
  const server = startServer(folder);
  server.stderr.pipe(process.stderr);
  server.stdout.pipe(process.stdout);
  server.on("exit", (code) => {
    console.error(
      `The server of ${name} has ended: see the lines above; with PORT=8080 npm start it uses another port.`
    );
    process.exit(code === 0 ? 0 : 1);
  });
  const address = await answeringAddress(server.stdout, startLimitMs);
  console.log(`\nThink is ready: open ${address} in a browser. Ctrl-C stops it.`);
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
