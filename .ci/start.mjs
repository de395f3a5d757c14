// `npm start`, after the install: builds the package if it is stale, serves the assistant, prints its address.
// Invariant: whatever ends this process (Ctrl-C, a kill, the server's own end) also ends the server's whole group.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { ensureBuilt } from "./lib/build.mjs";
import { answeringAddress } from "./lib/address.mjs";
import { assistant, bin } from "./lib/paths.mjs";
import { portProblem } from "./lib/port.mjs";
import { endGroup, exitOnSignals, exitWithParent, toolEnvironment } from "./lib/run.mjs";

const startLimitMs = 120_000;

/** @returns {import("node:child_process").ChildProcess & { stdout: import("node:stream").Readable, stderr: import("node:stream").Readable }} */
function startServer() {
  const port = process.env.PORT;
  const args = port === undefined || port === "" ? [] : ["--port", port, "--strictPort"];
  const child = spawn(bin("vite", assistant), args, {
    cwd: assistant,
    env: { ...toolEnvironment(), FORCE_COLOR: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  });
  process.once("exit", () => endGroup(child.pid, "SIGKILL"));
  return child;
}

async function main() {
  exitOnSignals();
  exitWithParent();
  const problem = await portProblem(process.env.PORT);
  if (problem !== undefined) throw new Error(problem);
  if (!existsSync(bin("vite", assistant))) {
    throw new Error(
      "The assistant in examples/assistant is not installed: delete node_modules and run `npm start` again."
    );
  }
  const built = await ensureBuilt();
  if (!built.ok)
    throw new Error(
      `${built.output}\nThe package could not be built: fix the error above and run \`npm start\` again.`
    );
  const server = startServer();
  server.stderr.pipe(process.stderr);
  server.stdout.pipe(process.stdout);
  server.on("exit", (code) => {
    console.error(
      "The server of the assistant has ended: see the lines above; with PORT=8080 npm start it uses another port."
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
