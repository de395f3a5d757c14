// The steps of `pnpm verify` (and so of `npm test` and the CI), in order.
import path from "node:path";
import { bin, cache, fromRoot } from "./lib/paths.mjs";
import { testProjects } from "./lib/test-projects.mjs";

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} command
 * @property {readonly string[]} args
 * @property {readonly string[]} [needs] Steps without which this one cannot run.
 * @property {boolean} [waits] It waits for timers, servers and pages more than it computes, so it may run beside another that does.
 * @property {string} [report] Where the step's vitest report is written.
 */

/**
 * @param {string} name
 * @param {string} script A file of `.ci`, with arguments.
 * @param {readonly string[]} [needs]
 * @returns {Step}
 */
function script(name, script, needs = []) {
  const [file = "", ...args] = script.split(" ");
  return { name, command: bin("node"), args: [fromRoot(".ci", file), ...args], needs };
}

/**
 * @param {string} name
 * @param {readonly string[]} args
 * @param {readonly string[]} [needs]
 * @returns {Step}
 */
function tests(name, args, needs = []) {
  const report = path.join(cache, "reports", `${name.replace(/\W+/g, "-")}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  return { name, command: bin("vitest"), args: ["run", ...args, ...reporters], needs, report };
}

/** @param {string} project */
const project = (project) => ["--config", "vitest.workspace.ts", "--project", project];

/** These run on the built package; the others load the sources. */
const needBuild = new Set(["browser", "browser-agents"]);

/** Time passes in these; the others keep the processor busy. */
const mostlyWait = new Set(["clients", "kill", "example-kit", "browser", "browser-agents"]);

/** @type {readonly Step[]} */
export const steps = [
  script("typecheck", "typecheck.mjs"),
  { name: "lint", command: bin("oxlint"), args: ["--deny-warnings"] },
  { name: "format", command: bin("oxfmt"), args: ["--check", "."] },
  script("boundaries", "boundaries.mjs"),
  script("build", "build.mjs"),
  script("packages", "packages.mjs", ["build"]),
  script("api reports", "api-report.mjs", ["build"]),
  script("docs", "docs.mjs", ["build"]),
  tests("tooling tests", ["--config", ".ci/vitest.config.mjs"]),
  ...testProjects()
    .filter((name) => name !== "tooling")
    .map((name) => ({
      ...tests(`${name} tests`, project(name), needBuild.has(name) ? ["build"] : []),
      waits: mostlyWait.has(name)
    })),
  script("consumer", "consumer.mjs", ["build"])
];

/** Proves that a fresh clone starts. Only in CI: it takes a while, and it sees committed files only. */
export const freshClone = script("fresh clone", "fresh-clone.mjs --only=start");
