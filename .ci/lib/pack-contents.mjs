// The rules for what is inside the packed package. Pure: takes the files, returns sentences.

const expected = [/^package\.json$/, /^README\.md$/, /^LICENSE$/, /^dist\/[\w./-]+\.(?:js|js\.map|d\.ts)$/];

/** The whole package, unpacked. Far above today's size; a bundled dependency passes it at once. */
const sizeLimitBytes = 3 * 1024 * 1024;

/**
 * The files that `exports` points to, each with the subpath that asks for it.
 *
 * @param {unknown} exports The `exports` field of package.json.
 * @param {string} [subpath]
 * @returns {{ subpath: string, condition: string, file: string }[]}
 */
export function exportTargets(exports, subpath = ".") {
  if (typeof exports === "string")
    return [{ subpath, condition: "default", file: exports.replace(/^\.\//, "") }];
  if (typeof exports !== "object" || exports === null) return [];
  return Object.entries(exports).flatMap(([key, value]) =>
    key.startsWith(".")
      ? exportTargets(value, key)
      : exportTargets(value, subpath).map((target) => ({ ...target, condition: key }))
  );
}

/**
 * @param {ReadonlyMap<string, Uint8Array>} files
 * @param {Readonly<Record<string, unknown>>} manifest
 */
function manifestProblems(files, manifest) {
  const problems = exportTargets(manifest.exports)
    .filter(({ file }) => !files.has(file))
    .map(
      ({ subpath, file }) =>
        `exports "${subpath}" points to ${file}, which is not packed: does tsdown.config.ts have the entry?`
    );
  if (manifest.type !== "module") problems.push('package.json must say "type": "module".');
  if (manifest.sideEffects !== false)
    problems.push('package.json must say "sideEffects": false, or bundlers keep unused code.');
  for (const field of ["dependencies", "peerDependencies", "optionalDependencies"]) {
    for (const [name, range] of Object.entries(manifest[field] ?? {})) {
      if (/^(workspace|file|link|catalog):/.test(range))
        problems.push(`${field} "${name}" is "${range}", which nobody can install.`);
    }
  }
  return problems;
}

/**
 * @param {ReadonlyMap<string, Uint8Array>} files Path inside the package to contents.
 * @param {string} root The repository's folder, which must not leak into the package.
 * @returns {string[]} One sentence per problem.
 */
export function packProblems(files, root) {
  const problems = [...files.keys()]
    .filter((name) => !expected.some((pattern) => pattern.test(name)))
    .map((name) => `${name} is packed and should not be: look at "files" in package.json.`);
  for (const name of ["package.json", "README.md", "LICENSE"]) {
    if (!files.has(name)) problems.push(`${name} is missing in the package.`);
  }
  let size = 0;
  for (const [name, data] of files) {
    size += data.byteLength;
    if (name.endsWith(".js") && !files.has(`${name}.map`) && !onlyReexports(Buffer.from(data).toString()))
      problems.push(`${name} has no source map.`);
    if (Buffer.from(data).includes(root))
      problems.push(`${name} holds an absolute path of the machine that built it.`);
  }
  if (size > sizeLimitBytes)
    problems.push(
      `The package unpacks to ${size} bytes, more than ${sizeLimitBytes}: is a dependency bundled?`
    );
  const manifest = files.get("package.json");
  if (manifest !== undefined)
    problems.push(...manifestProblems(files, JSON.parse(Buffer.from(manifest).toString())));
  return problems;
}

/** The bundler makes no map for an entry whose code is all in shared chunks; there is nothing to map. */
function onlyReexports(/** @type {string} */ text) {
  return /^(?:export (?:\*|\{[^{}]*\}) from "[^"]+";\s*)+$/.test(text);
}
