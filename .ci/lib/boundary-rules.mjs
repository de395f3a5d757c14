// Builds dependency-cruiser's rules from the table in `.ci/layers.mjs`. Pure: no file is read here.

/**
 * @typedef {object} Layers
 * @property {Readonly<Record<string, number>>} levels
 * @property {Readonly<Record<string, readonly string[]>>} standalone
 * @property {{ readonly file: string, readonly importedBy: readonly string[] }} classFile
 * @property {readonly { name: string, packages: readonly string[], allowed: readonly string[], typesAllowed: boolean, why: string }[]} reserved
 *
 * @typedef {import("dependency-cruiser").IForbiddenRuleType} Rule
 */

/** Test files may import what they test, wherever it is. */
const testFiles = "\\.test(-d)?\\.tsx?$";

/** @param {string} text */
function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/**
 * A pattern for a folder or a root file of `src`.
 *
 * @param {string} place
 */
function placePattern(place) {
  return place.endsWith(".ts") ? `^src/${escape(place)}$` : `^src/${escape(place)}/`;
}

/**
 * A pattern for a package, installed or not. A name that ends in a colon is a whole scheme (`cloudflare:`).
 *
 * @param {string} name
 */
function packagePattern(name) {
  return name.endsWith(":") ? `^${escape(name)}` : `(^|/)node_modules/${escape(name)}/|^${escape(name)}(/|$)`;
}

/**
 * @param {Layers} layers
 * @returns {Rule[]}
 */
function levelRules({ levels, standalone }) {
  const places = Object.keys(levels);
  return places.map((place) => {
    const level = levels[place] ?? 0;
    const tooHigh = places.filter((other) => other !== place && (levels[other] ?? 0) >= level);
    return {
      name: `level-${level}-${place}`,
      comment: `${place} has level ${level} and may import only lower levels: declare an interface here and wire it in compose.ts.`,
      severity: "error",
      from: { path: placePattern(place), pathNot: testFiles },
      to: { path: [...tooHigh, ...Object.keys(standalone)].map(placePattern) }
    };
  });
}

/**
 * @param {Layers} layers
 * @returns {Rule[]}
 */
function standaloneRules({ standalone }) {
  return Object.entries(standalone).map(([place, imports]) => ({
    name: `standalone-${place}`,
    comment: `${place} stands alone and may import only ${imports.join(" and ")}.`,
    severity: "error",
    from: { path: placePattern(place), pathNot: testFiles },
    to: { path: "^src/", pathNot: [place, ...imports].map(placePattern) }
  }));
}

/**
 * @param {Layers} layers
 * @returns {Rule[]}
 */
function reservedRules({ reserved }) {
  return reserved.map(({ name, packages, allowed, typesAllowed, why }) => ({
    name,
    comment: why,
    severity: "error",
    from: { path: "^src/", pathNot: [testFiles, ...allowed.map(placePattern)] },
    to: {
      path: packages.map(packagePattern),
      ...(typesAllowed ? { dependencyTypesNot: ["type-only"] } : {})
    }
  }));
}

/**
 * Every rule for a `src` folder.
 *
 * @param {Layers} layers
 * @returns {Rule[]}
 */
export function boundaryRules(layers) {
  const { file, importedBy } = layers.classFile;
  return [
    ...levelRules(layers),
    ...standaloneRules(layers),
    ...reservedRules(layers),
    {
      name: "no-import-of-the-class",
      comment: `Only ${importedBy.join(" and ")} imports ${file}: take a small interface instead of the class.`,
      severity: "error",
      from: { path: "^src/", pathNot: [testFiles, ...importedBy.map(placePattern)] },
      to: { path: placePattern(file) }
    },
    {
      name: "no-cycle",
      comment: "Imports form a cycle (type imports count): move the shared part down.",
      severity: "error",
      from: { path: "^src/" },
      to: { circular: true }
    },
    {
      name: "no-import-of-tests",
      comment: "Shipped code never imports a test file or anything outside src.",
      severity: "error",
      from: { path: "^src/", pathNot: testFiles },
      to: { path: [testFiles, "^(?:\\.\\./)*(?:test|examples|docs|\\.ci)/"] }
    }
  ];
}
