import { defineConfig } from "vitest/config";

/** The stock client, current and old, in Node against a real server. */
export default defineConfig({
  test: {
    name: "clients",
    environment: "node",
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/page.ts"],
    // Only a failure takes so long.
    testTimeout: 90_000,
    hookTimeout: 90_000
  }
});
