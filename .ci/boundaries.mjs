// `pnpm boundaries`: the layers of packages/think/src, and the fixed top level of the repository.
import "./lib/plain-errors.mjs";
import { readdirSync } from "node:fs";
import * as layers from "./layers.mjs";
import { checkBoundaries } from "./lib/boundary-check.mjs";
import { root, think } from "./lib/paths.mjs";
import { unexpectedEntries } from "./lib/top-level.mjs";

const { problems, modules } = await checkBoundaries(think, layers);
problems.push(
  ...unexpectedEntries(readdirSync(root), layers.topLevel).map(
    (name) =>
      `${name} does not belong at the top level of the repository: move it into one of the fixed folders.`
  )
);

if (problems.length === 0) {
  console.log(`Boundaries hold: ${modules} modules, ${Object.keys(layers.levels).length} places.`);
} else {
  console.error(problems.map((problem) => `- ${problem}`).join("\n"));
  console.error(`${problems.length} broken ${problems.length === 1 ? "boundary" : "boundaries"}.`);
  process.exitCode = 1;
}
