// `pnpm typecheck`: every TypeScript project of the repository. Examples see the built package, as users do, so the
// package is built between the two rounds.
import "./lib/plain-errors.mjs";
import { existsSync } from "node:fs";
import path from "node:path";
import { ensureBuilt } from "./lib/build.mjs";
import { workspaceFolders } from "./lib/install.mjs";
import { bin, fromRoot, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

/** @param {readonly string[]} folders */
function projectsIn(folders) {
  return folders
    .flatMap((folder) => [folder, path.join(folder, "test")])
    .filter((folder) => existsSync(path.join(folder, "tsconfig.json")))
    .map((folder) => path.relative(root, folder));
}

/** @param {readonly string[]} projects */
async function check(projects) {
  if (projects.length === 0) return;
  const { code, output } = await run(bin("tsc"), ["-b", ...projects, "--pretty", "false"]);
  if (code !== 0) throw new Error(output.trim());
  console.log(`Types are right in ${projects.join(", ")}.`);
}

const folders = workspaceFolders().filter((folder) => folder !== root);
const examples = folders.filter((folder) => folder.startsWith(fromRoot("examples")));
const packages = folders.filter((folder) => !examples.includes(folder));

await check([".ci", ...projectsIn(packages)]);
const built = await ensureBuilt();
if (!built.ok)
  throw new Error(`${built.output}\nThe package could not be built, so the examples cannot be checked.`);
await check(projectsIn(examples));
