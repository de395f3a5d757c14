// The test projects that `vitest.workspace.ts` lists, in its order, so that none can be forgotten in `pnpm verify`.
import { readFileSync } from "node:fs";
import { fromRoot } from "./paths.mjs";

/**
 * @param {string} workspace The text of `vitest.workspace.ts`.
 * @param {(file: string) => string} read Gives the text of a listed config.
 * @returns {string[]} Names of projects.
 */
export function projectNames(workspace, read) {
  const files = [...workspace.matchAll(/"([^"\n]+config\.m?[jt]s)"/g)].map((match) => match[1] ?? "");
  if (files.length === 0)
    throw new Error("vitest.workspace.ts lists no project: are the paths plain strings?");
  return files.map((file) => {
    const name = /\bname: "([^"]+)"/.exec(read(file))?.[1];
    if (name === undefined)
      throw new Error(`${file} gives its test project no name: write name: "..." in it.`);
    return name;
  });
}

/** The names of this repository's test projects. */
export function testProjects() {
  /** @param {string} file */
  const read = (file) => readFileSync(fromRoot(file), "utf8");
  return projectNames(read("vitest.workspace.ts"), read);
}
