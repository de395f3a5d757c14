/**
 * Runs the test Worker with wrangler's own command, in a process group of its own: the command has children, and none
 * of them may outlive the tests. Used by the global set-up.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const WRANGLER = join(
  dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin/wrangler.js"
);

/** Longest wait for the start (milliseconds); a loaded machine with two cores needs a fraction. */
const PATIENCE = 60_000;
/** Pause between two looks at a starting server (milliseconds). */
const INTERVAL = 100;
/** How much of the server's output is kept for an error message (characters). */
const KEPT = 20_000;

export interface Server {
  readonly port: number;
  /** Ends the server and everything it started. */
  readonly stop: () => Promise<void>;
}

/** Starts the Worker with its state in the given folder and resolves once it answers. */
export async function startServer(state: string): Promise<Server> {
  const port = await freePort();
  const wrangler = run(["dev", "--ip", "127.0.0.1", "--port", String(port), "--persist-to", state]);
  const deadline = performance.now() + PATIENCE;
  while (!(await answers(port))) {
    if (wrangler.process.exitCode !== null || performance.now() > deadline) {
      endGroup(wrangler.process);
      throw new Error(`The test server did not start on port ${port}. Its output:\n${wrangler.output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
  return {
    port,
    async stop() {
      const exited = wrangler.process.exitCode === null ? once(wrangler.process, "exit") : undefined;
      endGroup(wrangler.process);
      await exited;
    }
  };
}

function run(command: readonly string[]) {
  const child = spawn(process.execPath, [WRANGLER, ...command], {
    cwd: PACKAGE,
    detached: true,
    env: { ...process.env, NODE_ENV: undefined, VITEST: undefined, CI: "true", WRANGLER_SEND_METRICS: "false" },
    stdio: ["ignore", "pipe", "pipe"]
  });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-KEPT);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return { process: child, output: () => output };
}

/** Nothing needs saving, so the end is short. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // The group has gone already, which is what was wanted.
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/agents/chat/start/get-messages`, {
      signal: AbortSignal.timeout(5_000)
    });
    return response.ok;
  } catch {
    // Not listening yet.
    return false;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  return address.port;
}
