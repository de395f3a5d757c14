// Writes the code blocks of the documentation as a TypeScript project that sees the built package.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { workspaceFolders } from "./install.mjs";
import { think } from "./paths.mjs";

/**
 * @typedef {import("./markdown.mjs").CodeBlock} CodeBlock
 * @typedef {object} Origin Where a written file comes from.
 * @property {string} document
 * @property {number} line
 */

/** What `wrangler types` would have generated in a reader's project. */
const ambient = `declare namespace Cloudflare {
  interface Env {
    AI: Ai;
    LOADER: WorkerLoader;
  }
}
interface Env extends Cloudflare.Env {}
`;

const shared = {
  target: "es2023",
  module: "esnext",
  moduleResolution: "bundler",
  moduleDetection: "force",
  verbatimModuleSyntax: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true
};

/** Worker code and page code see different globals, hence two projects. */
export const projects = [
  {
    config: "tsconfig.worker.json",
    content: {
      compilerOptions: {
        ...shared,
        lib: ["es2024", "esnext.disposable"],
        types: ["@cloudflare/workers-types", "@cloudflare/vitest-plugin/types"]
      },
      include: ["ambient.d.ts", "blocks/**/*.ts"]
    }
  },
  {
    config: "tsconfig.page.json",
    content: {
      compilerOptions: {
        ...shared,
        lib: ["es2024", "dom", "dom.iterable", "esnext.disposable"],
        jsx: "react-jsx",
        types: ["react"]
      },
      include: ["blocks/**/*.tsx"]
    }
  }
];

/**
 * Links every dependency of the workspace's packages, the way a reader's project would have them.
 *
 * @param {string} folder
 */
function linkDependencies(folder) {
  const target = path.join(folder, "node_modules");
  /** @param {string} name @param {string} source */
  const link = (name, source) => {
    const place = path.join(target, name);
    mkdirSync(path.dirname(place), { recursive: true });
    if (!existsSync(place)) symlinkSync(source, place, "junction");
  };
  link("@cloudflare/think", think);
  // We install it under its former name; readers install it under its own.
  link("@cloudflare/vitest-plugin", path.join(think, "node_modules", "@cloudflare", "vitest-pool-workers"));
  for (const owner of workspaceFolders().map((one) => path.join(one, "node_modules"))) {
    for (const name of existsSync(owner) ? readdirSync(owner) : []) {
      if (name.startsWith(".")) continue;
      const names = name.startsWith("@")
        ? readdirSync(path.join(owner, name)).map((inner) => `${name}/${inner}`)
        : [name];
      for (const one of names) link(one, path.join(owner, one));
    }
  }
}

/**
 * @param {string} folder Emptied first.
 * @param {readonly { document: string, blocks: readonly CodeBlock[] }[]} documents
 * @returns {Map<string, Origin>} Written file (relative to the folder) to its origin.
 */
export function writeDocsProject(folder, documents) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  linkDependencies(folder);
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  writeFileSync(path.join(folder, "ambient.d.ts"), ambient);
  for (const { config, content } of projects)
    writeFileSync(path.join(folder, config), JSON.stringify(content));
  /** @type {Map<string, Origin>} */
  const origins = new Map();
  for (const { document, blocks } of documents) {
    for (const block of blocks.filter(({ checked }) => checked)) {
      const name = block.file ?? `line-${block.line}.${block.language}`;
      const file = path.posix.join("blocks", document.replace(/\W+/g, "-"), name);
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), `${block.code}\n`);
      origins.set(file, { document, line: block.line });
    }
  }
  return origins;
}

/**
 * Rewrites the compiler's positions to lines of the Markdown files.
 *
 * @param {string} output
 * @param {ReadonlyMap<string, Origin>} origins
 */
export function mapPositions(output, origins) {
  return output.replace(/^(?:\S*?)(blocks\/[^\s(]+)\((\d+),(\d+)\)/gm, (whole, file, line, column) => {
    const origin = origins.get(file);
    return origin === undefined ? whole : `${origin.document}:${origin.line + Number(line) - 1}:${column}`;
  });
}
