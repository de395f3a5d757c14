// A hash over the names and contents of files. Stamps compare it to decide whether work is already done.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Every file below `folder`, sorted, without dependencies and build results.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== "node_modules" && entry.name !== "dist")
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap((entry) => {
      const full = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(full) : entry.isFile() ? [full] : [];
    });
}

/**
 * One hash for a list of files. A missing file counts as absent, not as an error.
 *
 * @param {string} base Names are hashed relative to this folder, so a moved checkout keeps its hash.
 * @param {readonly string[]} files
 */
export function fingerprint(base, files) {
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(path.relative(base, file).split(path.sep).join("/")).update("\0");
    if (existsSync(file) && statSync(file).isFile()) hash.update(readFileSync(file));
    hash.update("\0");
  }
  return hash.digest("hex");
}
