/**
 * The runtime as a process of its own that can be killed without warning. Mostly workerd itself, which starts in a third of a second; once
 * through `wrangler dev`, as users run it. Both keep their state in a folder, so that the next process finds what the last one left.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Readable } from "node:stream";

const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const require = createRequire(import.meta.url);
const WRANGLER_FOLDER = dirname(require.resolve("wrangler/package.json"));
const WRANGLER = join(WRANGLER_FOLDER, "bin/wrangler.js");

/** Longest wait for a start or a build (milliseconds); a loaded machine with two cores needs a fraction. */
const PATIENCE = 60_000;

export interface Runtime {
  readonly url: string;
  /** Resolves with the name of the fault point at which the runtime stands; never, if there is none. */
  readonly halted: Promise<string>;
  /** What the process has printed, for messages of failed tests. */
  readonly output: () => string;
  /** Ends the process and everything it started, at once. */
  readonly kill: () => Promise<void>;
}

/** Bundles the Worker into a folder; workerd and wrangler run the same file. */
export async function bundleWorker(folder: string): Promise<void> {
  const { child, output } = run(process.execPath, [WRANGLER, "deploy", "--dry-run", "--outdir", folder], {});
  const [code] = await once(child, "exit", { signal: AbortSignal.timeout(PATIENCE) });
  if (code !== 0) throw new Error(`The Worker could not be bundled:\n${output()}`);
}

export interface RuntimeOptions {
  /** Folder with the bundle. */
  readonly bundle: string;
  /** Folder for what is stored. */
  readonly state: string;
  /** JSON: where the process stops. */
  readonly fault?: string | undefined;
}

/** Starts workerd and resolves once it listens. */
export async function startWorkerd({ bundle, state, fault = "" }: RuntimeOptions): Promise<Runtime> {
  await mkdir(state, { recursive: true });
  const config = join(bundle, "config.capnp");
  await writeFile(config, workerdConfig(state));
  const args = ["serve", config, "--experimental", "--control-fd=3"];
  const started = run(workerdPath(), args, { FAULT: fault });
  const port = await Promise.race([listeningPort(started.child), ended(started)]);
  return runtime(started, port);
}

/** Starts `wrangler dev` and resolves once it answers. */
export async function startWrangler({ bundle, state }: RuntimeOptions): Promise<Runtime> {
  const config = join(bundle, "wrangler.json");
  await writeFile(config, wranglerConfig());
  const port = await freePort();
  const address = ["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  const args = ["dev", "--no-bundle", "--config", config, "--persist-to", state, ...address];
  const started = run(process.execPath, [WRANGLER, ...args], {});
  await Promise.race([answers(port), ended(started)]);
  return runtime(started, port);
}

function runtime(started: Started, port: number): Runtime {
  const { child, output, halted } = started;
  return {
    url: `http://127.0.0.1:${port}`,
    halted,
    output,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      endGroup(child);
      await exited;
    }
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly halted: Promise<string>;
}

function run(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>
): Started {
  const child = spawn(command, args, {
    cwd: PACKAGE,
    // A group of its own: wrangler has children, and all of them must go in one instant.
    detached: true,
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true", NODE_ENV: undefined, ...environment },
    stdio: ["ignore", "pipe", "pipe", "pipe"]
  });
  const { promise: halted, resolve } = Promise.withResolvers<string>();
  let output = "";
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-20_000);
    const [, point] = /FAULT (.+)\n/u.exec(output) ?? [];
    if (point !== undefined) resolve(point);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  running.add(child);
  child.on("exit", () => running.delete(child));
  return { child, output: () => output, halted };
}

const running = new Set<ChildProcess>();
// A run that ends early must leave nothing behind.
process.on("exit", () => {
  for (const child of running) endGroup(child);
});

async function ended({ child, output }: Started): Promise<never> {
  await once(child, "exit");
  throw new Error(`The runtime ended while it started. Its output:\n${output()}`);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The group has gone already, which is what was wanted.
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}

/** workerd tells on its control channel which port the system gave it. */
async function listeningPort(child: ChildProcess): Promise<number> {
  const control = child.stdio[3] as Readable;
  let told = "";
  for await (const chunk of control) {
    told += String(chunk);
    const [, port] = /"event":"listen".*?"port":(\d+)/u.exec(told) ?? [];
    if (port !== undefined) return Number(port);
  }
  return new Promise(() => undefined);
}

async function answers(port: number): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(5_000) });
      return;
    } catch (error) {
      // Not listening yet.
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
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

/** The binary that wrangler itself would start. */
function workerdPath(): string {
  const fromWrangler = createRequire(join(WRANGLER_FOLDER, "package.json"));
  return (fromWrangler("workerd") as { readonly default: string }).default;
}

/** What wrangler's own configuration comes to. The email module is wrangler's addition; the Agents SDK imports it. */
function workerdConfig(state: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = "${state}", writable = true))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
  extensions = [(modules = [(
    name = "cloudflare-internal:email",
    internal = true,
    esModule = "export class EmailMessage {}; export default { EmailMessage };"
  )])]
);
const main :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js")],
  compatibilityDate = "2026-09-01",
  bindings = [
    (name = "Chat", durableObjectNamespace = "Chat"),
    (name = "Ledger", durableObjectNamespace = "Ledger"),
    (name = "FAULT", fromEnvironment = "FAULT")
  ],
  durableObjectNamespaces = [
    (className = "Chat", uniqueKey = "think-kill-tests-Chat", enableSql = true),
    (className = "Ledger", uniqueKey = "think-kill-tests-Ledger", enableSql = true)
  ],
  durableObjectStorage = (localDisk = "disk")
);
`;
}

function wranglerConfig(): string {
  const bindings = ["Chat", "Ledger"].map((name) => ({ name, class_name: name }));
  return JSON.stringify({
    name: "think-kill-tests",
    main: "index.js",
    compatibility_date: "2026-09-01",
    durable_objects: { bindings },
    migrations: [{ tag: "v1", new_sqlite_classes: ["Chat", "Ledger"] }]
  });
}
