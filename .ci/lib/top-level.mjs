// The top level of the repository is fixed, so that a newcomer sees the same few names for years.

const generated = new Set(["node_modules", "coverage"]);

/**
 * Names at the top level that are not in the list. Dot-files are configuration and always fine.
 *
 * @param {readonly string[]} names
 * @param {readonly string[]} allowed
 */
export function unexpectedEntries(names, allowed) {
  return names.filter((name) => !name.startsWith(".") && !generated.has(name) && !allowed.includes(name));
}
