// Where things are. Used by every script, so that none of them depends on the folder it is started from.
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const root = fileURLToPath(new URL("../../", import.meta.url)).replace(/[\\/]$/, "");

/** Scratch space: stamps, reports and temporary projects. Not in git, and safe to delete. */
export const cache = path.join(root, "node_modules", ".cache", "think");

/** The folder of the published package. */
export const think = path.join(root, "packages", "think");

/**
 * A path below the root folder.
 *
 * @param {...string} parts
 */
export function fromRoot(...parts) {
  return path.join(root, ...parts);
}

/**
 * A program of a package's own `node_modules/.bin`.
 *
 * @param {string} name
 * @param {string} [folder] The package's folder; the root by default.
 */
export function bin(name, folder = root) {
  return path.join(folder, "node_modules", ".bin", name);
}
