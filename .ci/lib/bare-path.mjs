// A `PATH` that holds what a fresh machine has: Node, npm, git and the usual small programs, and no more.
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fromRoot } from "./paths.mjs";

const programs =
  "node npm npx git sh bash env uname dirname basename readlink realpath cat ls cp mv rm mkdir ln chmod sed grep tr cut head tail sleep ps which id".split(
    " "
  );

/**
 * The system's program of that name, passing over this repository's own.
 *
 * @param {string} name
 */
function systemProgram(name) {
  return (process.env.PATH ?? "")
    .split(path.delimiter)
    .filter((folder) => !folder.startsWith(fromRoot()) && !folder.includes("node_modules"))
    .map((folder) => path.join(folder, name))
    .find((file) => existsSync(file));
}

/**
 * Fills a folder with links to the system's programs.
 *
 * @param {string} folder
 */
export function fillBarePath(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of programs) {
    const file = systemProgram(name);
    if (file !== undefined) symlinkSync(file, path.join(folder, name));
  }
  for (const name of ["node", "npm", "npx", "git"]) {
    if (!existsSync(path.join(folder, name)))
      throw new Error(`The fresh-clone proof needs "${name}" on the system's PATH.`);
  }
}
