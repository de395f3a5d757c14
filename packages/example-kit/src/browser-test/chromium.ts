/**
 * Finds a Chromium to test in: one the environment names, one that is installed, or the one that comes with the
 * npm package `@sparticuz/chromium`. Used by the global set-up and the screenshot script.
 */
import { accessSync, constants } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const INSTALLED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
];

/** No sandbox, since CI runs as root; nothing in the background, since CI has no network. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage"
];

export interface ChromiumSources {
  /** Path from the environment variable `CHROMIUM_PATH`. */
  readonly named: string | undefined;
  readonly installed: readonly string[];
  /** Unpacks the browser of the npm package and gives its path. */
  readonly packaged: () => Promise<string>;
}

const REMEDY =
  "Set CHROMIUM_PATH to a Chromium or Chrome, install one (on Debian: apt-get install chromium), or run pnpm install so that the package @sparticuz/chromium is there.";

/** The path of a browser that can be started. Rejects with a sentence that says how to get one. */
export async function findChromium(sources: ChromiumSources = standardSources()): Promise<string> {
  if (sources.named !== undefined) {
    if (isExecutable(sources.named)) return sources.named;
    throw new Error(`CHROMIUM_PATH names ${sources.named}, which cannot be started. ${REMEDY}`);
  }
  const installed = sources.installed.find(isExecutable);
  if (installed !== undefined) return installed;
  try {
    return await sources.packaged();
  } catch (cause) {
    throw new Error(`The browser tests found no Chromium. ${REMEDY}`, { cause });
  }
}

/** Starts the browser with a fresh profile. */
export async function launchChromium(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, args: FLAGS, headless: true });
}

function standardSources(): ChromiumSources {
  return {
    named: process.env.CHROMIUM_PATH,
    installed: INSTALLED,
    packaged: async () => {
      const { default: packaged } = await import("@sparticuz/chromium");
      return await packaged.executablePath();
    }
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
