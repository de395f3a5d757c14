import { defineConfig } from "tsdown";

/**
 * One entry per public subpath. The keys are the file names in `dist`, and `exports` in package.json names the
 * same files (`.ci/packages.mjs` checks that both agree).
 */
export default defineConfig({
  entry: {
    index: "src/index.ts",
    session: "src/session/index.ts",
    orchestrator: "src/orchestrator/index.ts",
    testing: "src/testing/index.ts",
    "tools/browser": "src/tools/browser/index.ts",
    "tools/fetch": "src/tools/fetch/index.ts",
    "tools/sandbox": "src/tools/sandbox/index.ts",
    "tools/think": "src/tools/think/index.ts",
    "tools/execute": "src/tools/execute/index.ts",
    "tools/workspace": "src/tools/workspace/index.ts"
  },
  format: "esm",
  platform: "neutral",
  // Async functions must stay async: the Agents base starts a cold object only for real async methods.
  target: "es2022",
  dts: { sourcemap: false },
  sourcemap: true,
  clean: true,
  fixedExtension: false,
  deps: { neverBundle: [/^cloudflare:/, /^node:/] }
});
