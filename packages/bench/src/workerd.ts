/**
 * The runtime as a process of its own, so that what it uses can be told apart from what the clients use. It ends with this process, however
 * that ends, and its folder goes with it.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { bundleWorker, WRANGLER } from "./build.ts";

/** Not the system's folder for temporary files: that may be in memory, where no bytes are written. */
const SCRATCH = fileURLToPath(new URL("../node_modules/.cache/", import.meta.url));

const CLASSES = ["Chat", "Files", "Bare", "BareAsTurn"];

export interface Runtime {
  readonly pid: number;
  /** Address without a path, for sockets. */
  readonly url: string;
}

/** Bundles, starts, and resolves once the runtime listens. */
export async function startRuntime(): Promise<Runtime> {
  mkdirSync(SCRATCH, { recursive: true });
  const folder = mkdtempSync(join(SCRATCH, "bench-"));
  process.once("exit", () =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  );
  await bundleWorker(folder);
  const state = join(folder, "state");
  mkdirSync(state);
  const config = join(folder, "config.capnp");
  writeFileSync(config, workerdConfig(state));
  const child = spawn(workerdPath(), ["serve", config, "--experimental", "--control-fd=3"], {
    stdio: ["ignore", "ignore", "pipe", "pipe"]
  });
  // Before the listener that removes the folder: nothing must write into it any more.
  process.prependOnceListener("exit", () => child.kill("SIGKILL"));
  const port = await Promise.race([listeningPort(child), endedEarly(child)]);
  if (child.pid === undefined) throw new Error("workerd has no process id, although it listens.");
  return { pid: child.pid, url: `ws://127.0.0.1:${port}` };
}

/** workerd tells on its control channel which port the system gave it. */
async function listeningPort(child: ChildProcess): Promise<string> {
  let told = "";
  for await (const chunk of child.stdio[3] as Readable) {
    told += String(chunk);
    const [, port] = /"event":"listen".*?"port":(\d+)/u.exec(told) ?? [];
    if (port !== undefined) return port;
  }
  // The channel closes when the process ends, which is told with its output.
  return new Promise(() => undefined);
}

async function endedEarly(child: ChildProcess): Promise<never> {
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-10_000)));
  const reason = await new Promise((resolve) => {
    child.once("error", resolve);
    child.once("close", (code) => resolve(`code ${code}`));
  });
  throw new Error(`workerd ended while it started (${String(reason)}):\n${said}`);
}

/** The binary that wrangler itself would start. */
function workerdPath(): string {
  const fromWrangler = createRequire(join(WRANGLER, "package.json"));
  return (fromWrangler("workerd") as { readonly default: string }).default;
}

/** What wrangler's own configuration comes to. The email module is wrangler's addition; the Agents SDK imports it. */
function workerdConfig(state: string): string {
  const bindings = CLASSES.map((name) => `(name = "${name}", durableObjectNamespace = "${name}")`);
  const namespaces = CLASSES.map(
    (name) => `(className = "${name}", uniqueKey = "think-bench-${name}", enableSql = true)`
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = ${JSON.stringify(state)}, writable = true))
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
  bindings = [${bindings.join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "disk")
);
`;
}
