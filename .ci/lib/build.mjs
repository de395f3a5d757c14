// Builds `packages/think/dist`, and skips that when the sources did not change since the last build.
import { existsSync } from "node:fs";
import path from "node:path";
import { filesBelow, fingerprint } from "./fingerprint.mjs";
import { bin, root, think } from "./paths.mjs";
import { run } from "./run.mjs";
import { stamp } from "./stamp.mjs";

function buildFingerprint() {
  const sources = filesBelow(path.join(think, "src")).filter((file) => !/\.test(-d)?\.ts$/.test(file));
  const settings = ["package.json", "tsconfig.json", "tsdown.config.ts"].map((name) =>
    path.join(think, name)
  );
  return fingerprint(root, [
    ...settings,
    path.join(root, "pnpm-lock.yaml"),
    path.join(root, "tsconfig.base.json"),
    ...sources
  ]);
}

/**
 * @param {object} [options]
 * @param {boolean} [options.force] Builds even when nothing changed.
 * @returns {Promise<{ ok: boolean, skipped: boolean, output: string }>}
 */
export async function ensureBuilt({ force = false } = {}) {
  const wanted = buildFingerprint();
  const done = stamp("build");
  const present = existsSync(path.join(think, "dist", "index.js"));
  if (!force && present && done.matches(wanted)) return { ok: true, skipped: true, output: "" };
  done.clear();
  const { code, output } = await run(bin("tsdown", think), [], { cwd: think });
  if (code === 0) done.write(wanted);
  return { ok: code === 0, skipped: false, output };
}
