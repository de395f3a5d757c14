/**
 * Runs the test Worker in the real runtime through wrangler's own API. Sources are bundled once and not watched: a change
 * in mid-run would restart the server under the tests. Used by the global set-up.
 */
import { fileURLToPath } from "node:url";
import { unstable_startWorker as startWorker } from "wrangler";

const CONFIG = fileURLToPath(new URL("../../wrangler.jsonc", import.meta.url));

/** Longest wait for the start (milliseconds); a loaded machine with two cores needs a fraction. */
const PATIENCE = 60_000;

export interface Server {
  readonly port: number;
  /** Ends the server and everything it started. */
  readonly stop: () => Promise<void>;
}

/** Starts the Worker on a free port with its state in the given folder, and resolves once it answers. */
export async function startServer(state: string): Promise<Server> {
  const worker = await startWorker({
    config: CONFIG,
    dev: {
      server: { hostname: "127.0.0.1", port: 0 },
      inspector: false,
      logLevel: "error",
      persist: state,
      remote: false,
      watch: false
    }
  });
  const url = await worker.url;
  const response = await fetch(new URL("agents/chat/start/get-messages", url), {
    signal: AbortSignal.timeout(PATIENCE)
  });
  if (!response.ok) throw new Error(`The test server answered its first request with ${response.status}.`);
  return { port: Number(url.port), stop: () => worker.dispose() };
}
