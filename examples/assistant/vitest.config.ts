import { defineConfig } from "vitest/config";

/** The assistant in a real Chromium, and the unit tests of its offline model. */
export default defineConfig({
  test: {
    name: "browser",
    environment: "node",
    include: ["test/**/*.test.ts", "src/**/*.test.ts"],
    globalSetup: ["@cloudflare/think-example-kit/browser-test/global-setup"],
    // One server and one browser at a time: the runtime, the browser and the build share two cores in CI.
    fileParallelism: false,
    testTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 180_000
  }
});
