import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import agents from "agents/vite";
import type { ViteUserConfig } from "vitest/config";

const test = `${import.meta.dirname}/`;

export interface WorkersProject {
  readonly name: string;
  /** The folder whose installed `ai` and `agents` the tests run on. */
  readonly root: string;
  /** Names of test files that are left out. Default: none. */
  readonly without?: readonly string[];
}

/**
 * The workerd test project, built once and used for every supported AI SDK major: the sources are the
 * same files, and `dedupe` makes the SDK resolve from `root`.
 */
export function workersProject({ name, root, without = [] }: WorkersProject): ViteUserConfig {
  return {
    root,
    plugins: [agents(), cloudflareTest({ wrangler: { configPath: `${test}wrangler.jsonc` } })],
    resolve: {
      dedupe: ["agents", "ai", "zod"],
      alias: [
        { find: /^@cloudflare\/think$/, replacement: `${test}../src/index.ts` },
        { find: /^@cloudflare\/think\/(.*)$/, replacement: `${test}../src/$1/index.ts` }
      ]
    },
    test: {
      name,
      dir: test,
      include: ["**/*.test.ts"],
      exclude: without.map((file) => `**/${file}.test.ts`),
      setupFiles: [`${test}fixed-seed.ts`, `${test}slow-machine.ts`],
      // Loading agents, ai and MCP costs seconds per isolate; each of two workers, one for each core of CI, pays it once.
      isolate: false,
      maxWorkers: 2,
      // Only a failure takes so long: no bound of a test may depend on how busy the machine is.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 25_000, interval: 20 } }
    }
  };
}
