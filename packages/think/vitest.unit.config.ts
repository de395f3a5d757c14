import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "unit",
    environment: "node",
    include: ["src/**/*.test.ts"],
    // One for each core of CI; the default leaves one core to the test runner, which has nothing to do.
    maxWorkers: 2,
    setupFiles: ["test/fixed-seed.ts"],
    // Thousands of random cases take seconds on a busy machine; only a failure may come near this.
    testTimeout: 60_000,
    expect: { poll: { timeout: 25_000 } }
  }
});
