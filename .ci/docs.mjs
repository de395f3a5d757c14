// `pnpm docs:check`: every TypeScript block of the documentation compiles against the built package, and every
// relative link resolves. A block opts out with the info string `ts no-check`; the number of those is printed.
import "./lib/plain-errors.mjs";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { ensureBuilt } from "./lib/build.mjs";
import { brokenLinks } from "./lib/docs-links.mjs";
import { mapPositions, projects, writeDocsProject } from "./lib/docs-project.mjs";
import { filesBelow } from "./lib/fingerprint.mjs";
import { workspaceFolders } from "./lib/install.mjs";
import { codeBlocks } from "./lib/markdown.mjs";
import { bin, cache, fromRoot, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

const readmes = workspaceFolders().map((folder) => path.join(folder, "README.md"));
const linkedOnly = [fromRoot("AGENTS.md"), ...filesBelow(fromRoot("design"))];
const compiled = [...readmes, ...filesBelow(fromRoot("docs"))].filter(
  (file) => file.endsWith(".md") && existsSync(file)
);

const built = await ensureBuilt();
if (!built.ok)
  throw new Error(`${built.output}\nThe package could not be built, so the documentation cannot be checked.`);

const documents = compiled.map((file) => ({
  document: path.relative(root, file),
  blocks: codeBlocks(readFileSync(file, "utf8"))
}));
const folder = path.join(cache, "docs");
const origins = writeDocsProject(folder, documents);

const problems = [...compiled, ...linkedOnly]
  .filter((file) => file.endsWith(".md") && existsSync(file))
  .flatMap((file) => brokenLinks(root, file));

for (const { config, content } of projects) {
  const wanted = content.include.some((pattern) => pattern.endsWith(".tsx")) ? ".tsx" : ".ts";
  if (![...origins.keys()].some((file) => file.endsWith(wanted))) continue;
  const { code, output } = await run(bin("tsc"), ["-p", config, "--pretty", "false"], { cwd: folder });
  if (code !== 0) problems.push(mapPositions(output.trim(), origins));
}

const unchecked = documents.flatMap(({ blocks }) => blocks).filter(({ checked }) => !checked).length;
console.log(`${documents.length} documents, ${origins.size} blocks compiled, ${unchecked} marked no-check.`);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exitCode = 1;
}
