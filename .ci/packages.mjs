// `pnpm packages`: what a user would download is complete, small, and has correct types.
import "./lib/plain-errors.mjs";
import { readFileSync } from "node:fs";
import path from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { packProblems } from "./lib/pack-contents.mjs";
import { packThink } from "./lib/pack.mjs";
import { bin, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { readTarball } from "./lib/tarball.mjs";

/** @param {Buffer} tarball */
async function publintProblems(tarball) {
  const data = new Uint8Array(tarball).buffer;
  const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true });
  return messages.map(
    (message) => `publint: ${formatMessage(message, pkg ?? {}, { color: false }) ?? message.code}`
  );
}

/** @param {string} tarball */
async function typesProblems(tarball) {
  const { code, output } = await run(bin("attw"), [
    tarball,
    "--profile",
    "esm-only",
    "--no-color",
    "--no-emoji"
  ]);
  return code === 0 ? [] : [`are-the-types-wrong:\n${output}`];
}

const tarball = await packThink();
const data = readFileSync(tarball);
const files = readTarball(data);
const problems = [
  ...packProblems(files, root),
  ...(await publintProblems(data)),
  ...(await typesProblems(tarball))
];

if (problems.length === 0) {
  const kilobytes = Math.round(data.byteLength / 1024);
  console.log(
    `${path.basename(tarball)}: ${files.size} files, ${kilobytes} kB packed, publint and types are clean.`
  );
} else {
  console.error(problems.map((problem) => `- ${problem}`).join("\n"));
  process.exitCode = 1;
}
