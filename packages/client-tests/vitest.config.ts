import { defineConfig } from "vitest/config";

/** The stock client, current and old, in Node against a real server. */
export default defineConfig({
  test: {
    name: "clients",
    environment: "node",
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/page.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000
  }
});
