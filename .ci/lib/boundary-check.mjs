// Runs dependency-cruiser on a package's `src` and returns what is wrong as sentences.
import { readdirSync } from "node:fs";
import path from "node:path";
import { cruise } from "dependency-cruiser";
import { boundaryRules } from "./boundary-rules.mjs";

/** @typedef {import("./boundary-rules.mjs").Layers} Layers */

/**
 * Folders and root files of `src` that have no place in the table.
 *
 * @param {string} source
 * @param {Layers} layers
 */
function unknownPlaces(source, layers) {
  return readdirSync(source, { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() || (/\.tsx?$/.test(entry.name) && !/\.test(-d)?\.tsx?$/.test(entry.name))
    )
    .map((entry) => entry.name)
    .filter((name) => !(name in layers.levels) && !(name in layers.standalone))
    .map(
      (name) =>
        `src/${name} has no level: add it to .ci/layers.mjs (and to design/layers.md), or move its files.`
    );
}

/**
 * @param {import("dependency-cruiser").IViolation} violation
 * @param {ReadonlyMap<string, string>} comments
 */
function sentence(violation, comments) {
  const route =
    violation.cycle === undefined
      ? `${violation.from} imports ${violation.to}`
      : [violation.from, ...violation.cycle.map((step) => step.name)].join(" -> ");
  return `${route}\n    ${violation.rule.name}: ${comments.get(violation.rule.name) ?? ""}`;
}

/**
 * @param {string} packageFolder The folder that holds `src`.
 * @param {Layers} layers
 * @returns {Promise<{ problems: string[], modules: number }>}
 */
export async function checkBoundaries(packageFolder, layers) {
  const forbidden = boundaryRules(layers);
  const comments = new Map(forbidden.map((rule) => [rule.name ?? "", rule.comment ?? ""]));
  const { output } = await cruise(
    ["src"],
    {
      baseDir: packageFolder,
      ruleSet: { forbidden },
      validate: true,
      doNotFollow: { path: "node_modules" },
      // Type imports count: a cycle of types is a cycle, and a layer must not know a higher one's types.
      tsPreCompilationDeps: true
    },
    {
      conditionNames: ["import", "types"],
      exportsFields: ["exports"],
      extensions: [".ts", ".tsx", ".mts", ".js", ".mjs"]
    }
  );
  if (typeof output === "string")
    throw new Error("dependency-cruiser answered with text instead of a result.");
  const problems = output.summary.violations.map((violation) => sentence(violation, comments));
  return {
    problems: [...unknownPlaces(path.join(packageFolder, "src"), layers), ...new Set(problems)],
    modules: output.modules.filter((module) => module.source.startsWith("src/")).length
  };
}
