// Installs the workspace's dependencies with the frozen lockfile, and skips that when nothing changed.
// Runs on the system's Node (18 or newer), before anything is installed: Node's own modules only.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fingerprint } from "./fingerprint.mjs";
import { explainInstallFailure, networkIsGone } from "./install-failure.mjs";
import { bin, cache, fromRoot, root } from "./paths.mjs";
import { pnpm } from "./pnpm.mjs";
import { stamp } from "./stamp.mjs";

/** Every workspace package's folder, the root first. */
export function workspaceFolders() {
  const below = ["packages", "examples"].flatMap((group) => {
    const folder = fromRoot(group);
    return existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
  });
  return [root, ...below].filter((folder) => existsSync(path.join(folder, "package.json")));
}

function installFingerprint() {
  const manifests = workspaceFolders().map((folder) => path.join(folder, "package.json"));
  return fingerprint(root, [
    fromRoot("pnpm-lock.yaml"),
    fromRoot("pnpm-workspace.yaml"),
    ...manifests.sort()
  ]);
}

function everythingIsThere() {
  return (
    existsSync(bin("node")) &&
    workspaceFolders().every((folder) => existsSync(path.join(folder, "node_modules")))
  );
}

/**
 * Makes sure the dependencies are installed.
 *
 * @returns {Promise<string | undefined>} One sentence when it failed.
 */
export async function ensureInstalled() {
  const wanted = installFingerprint();
  const done = stamp("install");
  if (done.matches(wanted) && everythingIsThere()) return undefined;
  done.clear();
  console.log("Installing dependencies (the first time takes a minute or two) ...");
  const { code, output } = await pnpm(["install", "--frozen-lockfile", "--reporter=append-only"], {
    stopWhen: networkIsGone
  });
  if (code !== 0) {
    const logFile = path.join(cache, "install.log");
    mkdirSync(cache, { recursive: true });
    writeFileSync(logFile, output);
    return explainInstallFailure(output, path.relative(root, logFile));
  }
  done.write(wanted);
  return undefined;
}
