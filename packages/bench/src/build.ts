/**
 * Bundles the Worker with wrangler. Not minified, as `wrangler deploy` does it unless told otherwise: minifying shortens names, which costs
 * or saves nothing once the code is compiled, and both sides are in the one bundle anyway.
 */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PACKAGE = fileURLToPath(new URL("../", import.meta.url));
const require = createRequire(import.meta.url);

/** The folder of the installed wrangler, which brings its workerd. */
export const WRANGLER = dirname(require.resolve("wrangler/package.json"));

/** Longest build, in ms. */
const PATIENCE = 120_000;

/** Writes `index.js` into the folder. */
export async function bundleWorker(folder: string): Promise<void> {
  const args = [join(WRANGLER, "bin/wrangler.js"), "deploy", "--dry-run", "--outdir", folder];
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" };
  const built = promisify(execFile)(process.execPath, args, { cwd: PACKAGE, env, timeout: PATIENCE });
  const stop = () => built.child.kill();
  process.once("exit", stop);
  await built.finally(() => process.off("exit", stop));
}
