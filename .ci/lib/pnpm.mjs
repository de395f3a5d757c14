// pnpm, brought by npm: nobody has to install it first. The version is pinned here and nowhere else.
import { run } from "./run.mjs";

/** The exact pnpm that writes and reads the lockfile. */
export const pnpmVersion = "12.18.0";

/**
 * Runs pnpm through npx, which keeps it in npm's cache after the first time.
 *
 * @param {readonly string[]} args
 * @param {import("./run.mjs").RunOptions} [options]
 */
export function pnpm(args, options = {}) {
  return run("npx", ["--yes", `pnpm@${pnpmVersion}`, ...args], {
    ...options,
    // A machine without a network should say so within seconds, not after minutes of patience.
    env: {
      npm_config_fetch_retries: "2",
      npm_config_fetch_retry_mintimeout: "1000",
      npm_config_fetch_retry_maxtimeout: "4000",
      npm_config_update_notifier: "false",
      pnpm_config_fetch_retries: "3",
      pnpm_config_fetch_retry_mintimeout: "1000",
      pnpm_config_fetch_retry_maxtimeout: "5000",
      ...options.env
    }
  });
}
