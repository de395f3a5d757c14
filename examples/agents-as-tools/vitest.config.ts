import { defineConfig } from "vitest/config";

/** Delegation in a real Chromium, and the unit tests of the planned models. */
export default defineConfig({
  test: {
    name: "browser-agents",
    environment: "node",
    include: ["test/**/*.test.ts", "src/**/*.test.ts"],
    globalSetup: ["@cloudflare/think-example-kit/browser-test/global-setup"],
    fileParallelism: false,
    testTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 180_000
  }
});
