// A user's app in a temporary folder, with the packed package installed from its tarball.
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { singleVersions } from "./lockfile.mjs";
import { fromRoot, think } from "./paths.mjs";
import { pnpm } from "./pnpm.mjs";

/** What a user installs next to the package, at the versions it is developed with. */
const companions = ["agents", "ai", "zod", "@modelcontextprotocol/client", "@cloudflare/workers-types"];

/** @param {string} tarball */
function manifest(tarball) {
  const { devDependencies } = JSON.parse(readFileSync(path.join(think, "package.json"), "utf8"));
  return {
    name: "think-consumer",
    private: true,
    type: "module",
    dependencies: {
      "@cloudflare/think": `file:${tarball}`,
      ...Object.fromEntries(companions.map((name) => [name, devDependencies[name]]))
    }
  };
}

/**
 * @param {string} tarball
 * @returns {Promise<string>} The app's folder; it is removed when this process ends.
 */
export async function createConsumerApp(tarball) {
  const folder = mkdtempSync(path.join(realpathSync(tmpdir()), "think-consumer-"));
  process.once("exit", () =>
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  );
  cpSync(fromRoot(".ci", "consumer"), folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest(tarball)));
  // The versions of our lockfile: they are in the store already, and a release of somebody else cannot break the check.
  const overrides = singleVersions(readFileSync(fromRoot("pnpm-lock.yaml"), "utf8"));
  writeFileSync(path.join(folder, "pnpm-workspace.yaml"), JSON.stringify({ packages: ["."], overrides }));
  const { code, output } = await pnpm(
    ["install", "--prefer-offline", "--ignore-scripts", "--no-frozen-lockfile"],
    { cwd: folder }
  );
  if (code !== 0) throw new Error(`${output}\nThe packed package could not be installed into a new app.`);
  return folder;
}
