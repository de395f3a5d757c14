// `pnpm api` fails when the public API differs from the reviewed report; `pnpm api:update` accepts the change.
import "./lib/plain-errors.mjs";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { currentReport, publicEntries, reportFolder } from "./lib/api-extractor.mjs";
import { ensureBuilt } from "./lib/build.mjs";
import { lineDiff } from "./lib/line-diff.mjs";

const update = process.argv.includes("--update");

/** @param {string} name */
const reportFile = (name) => path.join(reportFolder, `${name}.api.md`);

/** @param {{ name: string, types: string }} entry */
function check(entry) {
  const file = reportFile(entry.name);
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const after = currentReport(entry);
  if (before === after) return [];
  if (update) {
    writeFileSync(file, after);
    console.log(`Wrote api/${entry.name}.api.md.`);
    return [];
  }
  if (before === "") return [`The public API "${entry.name}" has no report yet.`];
  return [
    `The public API "${entry.name}" has changed:`,
    ...lineDiff(before, after).map((line) => `  ${line}`)
  ];
}

const built = await ensureBuilt();
if (!built.ok) throw new Error(`${built.output}\nThe package could not be built, so its API cannot be read.`);

mkdirSync(reportFolder, { recursive: true });
const entries = publicEntries();
const problems = entries.flatMap(check);
for (const name of readdirSync(reportFolder)) {
  if (entries.some((entry) => name === `${entry.name}.api.md`)) continue;
  if (update) rmSync(path.join(reportFolder, name), { recursive: true });
  else problems.push(`api/${name} belongs to no public subpath.`);
}

if (problems.length === 0) {
  console.log(`${entries.length} API reports are up to date.`);
} else {
  console.error(problems.join("\n"));
  console.error("If the change is intended, run `pnpm api:update`, commit the report and add a changeset.");
  process.exitCode = 1;
}
