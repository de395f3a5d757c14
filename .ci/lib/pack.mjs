// Packs the package as npm would publish it.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { ensureBuilt } from "./build.mjs";
import { cache, think } from "./paths.mjs";
import { pnpm } from "./pnpm.mjs";

/**
 * Builds if stale, then packs.
 *
 * @returns {Promise<string>} The tarball's file name.
 */
export async function packThink() {
  const built = await ensureBuilt();
  if (!built.ok) throw new Error(`${built.output}\nThe package could not be built, so it cannot be packed.`);
  // A folder per process: two checks that run at once must not take each other's file away.
  const folder = path.join(cache, "pack", String(process.pid));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { code, output } = await pnpm(["pack", "--pack-destination", folder], { cwd: think });
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (code !== 0 || tarball === undefined) throw new Error(`${output}\npnpm could not pack packages/think.`);
  return path.join(folder, tarball);
}
