/**
 * Runs the example as a person would: Vite's own command, in a process group of its own, so that a test can pull
 * the plug (SIGKILL) on it and on the Workers runtime beneath it. Used by the set-up, tests and the screenshot.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";

const VITE = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");

/** Longest wait for a build or a start (milliseconds); a loaded machine with two cores needs a fraction. */
const PATIENCE = 120_000;
/** Pause between two looks at a starting server (milliseconds). */
const INTERVAL = 100;

export interface ServerOptions {
  /** Folder of the example. */
  readonly example: string;
  /** `preview` serves the build, `dev` the sources. */
  readonly mode: "preview" | "dev";
  /** Folder for chats and files. */
  readonly state: string;
  /** Default: a free one. */
  readonly port?: number;
}

export interface Server {
  readonly url: string;
  readonly port: number;
  /** Ends the server and everything it started. SIGKILL gives it no chance to tidy up. */
  readonly stop: (signal?: "SIGTERM" | "SIGKILL") => Promise<void>;
}

/** Builds page and Worker into `dist`. */
export async function buildExample(example: string): Promise<void> {
  const vite = run(example, ["build"], {});
  const [code] = await once(vite.process, "exit", { signal: AbortSignal.timeout(PATIENCE) });
  if (code !== 0)
    throw new Error(`vite build ended with code ${String(code)}. Its output:\n${vite.output()}`);
}

/** Starts the example and resolves once it answers. */
export async function startServer({ example, mode, state, port }: ServerOptions): Promise<Server> {
  const chosen = port ?? (await freePort());
  const vite = run(example, [mode === "dev" ? "dev" : "preview", "--host", "127.0.0.1"], {
    PORT: String(chosen),
    EXAMPLE_STATE: state
  });
  const url = `http://127.0.0.1:${chosen}/`;
  const deadline = performance.now() + PATIENCE;
  while (!(await answers(url))) {
    if (vite.process.exitCode !== null || performance.now() > deadline) {
      endGroup(vite.process, "SIGKILL");
      throw new Error(`The example did not start on port ${chosen}. Its output:\n${vite.output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
  return {
    url,
    port: chosen,
    stop: async (signal = "SIGTERM") => {
      if (vite.process.exitCode !== null || vite.process.signalCode !== null) return;
      const exited = once(vite.process, "exit");
      endGroup(vite.process, signal);
      await exited;
      // Vite may leave before the runtime it started; nothing of the group may outlive the test.
      endGroup(vite.process, "SIGKILL");
    }
  };
}

function run(example: string, command: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [VITE, ...command], {
    cwd: example,
    detached: true,
    env: { ...process.env, ...environment, NODE_ENV: undefined, VITEST: undefined, CI: "true" },
    stdio: ["ignore", "pipe", "pipe"]
  });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return { process: child, output: () => output };
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // The group has gone already, which is what was wanted.
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
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
