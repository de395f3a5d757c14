// One API report per public subpath, made by API Extractor from the built `.d.ts` files.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { exportTargets } from "./pack-contents.mjs";
import { cache, root, think } from "./paths.mjs";

/** Where the reviewed reports are. */
export const reportFolder = path.join(think, "api");

/**
 * The name of a subpath's report: `index` for ".", `tools-workspace` for "./tools/workspace".
 *
 * @param {string} subpath
 */
export function reportName(subpath) {
  return subpath === "." ? "index" : subpath.replace(/^\.\//, "").replaceAll("/", "-");
}

/** @returns {{ name: string, types: string }[]} Every public subpath with its declaration file. */
export function publicEntries() {
  const manifest = JSON.parse(readFileSync(path.join(think, "package.json"), "utf8"));
  return exportTargets(manifest.exports)
    .filter(({ condition, file }) => condition === "types" && file.endsWith(".d.ts"))
    .map(({ subpath, file }) => ({ name: reportName(subpath), types: path.join(think, file) }));
}

const quiet = { default: { logLevel: ExtractorLogLevel.None, addToApiReportFile: false } };

/**
 * @param {string} name
 * @param {string} types
 * @param {string} folder
 */
function configuration(name, types, folder) {
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(think, "package.json"),
    configObject: {
      projectFolder: think,
      mainEntryPointFilePath: types,
      newlineKind: "lf",
      compiler: { overrideTsconfig: compilerSettings(types) },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: folder,
        reportTempFolder: path.join(folder, "temp")
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: quiet,
        extractorMessageReporting: quiet,
        tsdocMessageReporting: quiet
      }
    }
  });
}

/** @param {string} types */
function compilerSettings(types) {
  return {
    compilerOptions: {
      target: "es2023",
      lib: ["es2023", "esnext.disposable"],
      module: "esnext",
      moduleResolution: "bundler",
      strict: true,
      skipLibCheck: true,
      types: ["@cloudflare/workers-types"],
      typeRoots: [path.join(think, "node_modules"), path.join(root, "node_modules")]
    },
    files: [types]
  };
}

/**
 * Writes the report of one subpath into a scratch folder and returns its text.
 *
 * @param {{ name: string, types: string }} entry
 */
export function currentReport({ name, types }) {
  if (!existsSync(types))
    throw new Error(`${path.relative(root, types)} does not exist: run \`pnpm build\` first.`);
  const folder = path.join(cache, "api");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${name}.api.md`);
  rmSync(file, { force: true });
  Extractor.invoke(configuration(name, types, folder), {
    localBuild: true,
    messageCallback: (message) => {
      // Its own compiler is older than ours; type errors are the type check's business.
      message.handled = true;
    }
  });
  return readFileSync(file, "utf8");
}
