import { defineConfig } from "vitest/config";

/**
 * Every test project of the repository. Run one with
 * `vitest run --config vitest.workspace.ts --project <name>`.
 *
 * - unit: pure rules in plain Node
 * - workers: everything that touches a Durable Object, in workerd, on the current AI SDK major
 * - workers-ai6: the same files on the previous AI SDK major
 * - clients: the stock chat client, current and old, against a real server
 * - kill: a long turn whose runtime is killed, on a real server
 * - example-kit: what the examples share, in plain Node
 * - browser: the assistant in a real Chromium
 * - browser-agents: the example of agents as tools in a real Chromium
 */
export default defineConfig({
  test: {
    projects: [
      "packages/think/vitest.unit.config.ts",
      "packages/think/vitest.workers.config.ts",
      "packages/think-ai6/vitest.config.ts",
      "packages/client-tests/vitest.config.ts",
      "packages/kill-tests/vitest.config.ts",
      "packages/example-kit/vitest.config.ts",
      "examples/assistant/vitest.config.ts",
      "examples/agents-as-tools/vitest.config.ts"
    ]
  }
});
