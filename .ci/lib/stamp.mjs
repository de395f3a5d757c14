// Remembers that a piece of work was done for a given fingerprint, so that re-runs start in seconds.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { cache } from "./paths.mjs";

/**
 * @param {string} name Name of the work, for example `install`.
 * @param {string} [folder] Where stamps are kept.
 */
export function stamp(name, folder = cache) {
  const file = path.join(folder, `${name}.stamp`);
  return {
    /** @param {string} fingerprint */
    matches(fingerprint) {
      try {
        return readFileSync(file, "utf8") === fingerprint;
      } catch {
        return false;
      }
    },
    /** @param {string} fingerprint */
    write(fingerprint) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, fingerprint);
    },
    /** Forgets the work; called before it starts, so that a half-done piece never counts. */
    clear() {
      rmSync(file, { force: true });
    }
  };
}
