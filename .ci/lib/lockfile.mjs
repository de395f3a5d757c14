// Reads names and versions from pnpm's lockfile. Pure.

/**
 * Packages that the lockfile has in exactly one version.
 *
 * @param {string} lockfile
 * @returns {Record<string, string>}
 */
export function singleVersions(lockfile) {
  const section = /^packages:\n([\s\S]*?)^(?=\w)/m.exec(`${lockfile}\nend:`)?.[1] ?? "";
  /** @type {Map<string, Set<string>>} */
  const versions = new Map();
  for (const [, name = "", version = ""] of section.matchAll(/^ {2}'?(@?[^@\s']+)@(\d[^:'(]*)'?:$/gm)) {
    versions.set(name, (versions.get(name) ?? new Set()).add(version));
  }
  return Object.fromEntries(
    [...versions].filter(([, found]) => found.size === 1).map(([name, found]) => [name, [...found].join()])
  );
}
