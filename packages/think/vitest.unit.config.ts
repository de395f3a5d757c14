import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "unit",
    environment: "node",
    include: ["src/**/*.test.ts"],
    setupFiles: ["test/fixed-seed.ts"],
    // Thousands of random cases take seconds on a busy machine; only a failure may come near this.
    testTimeout: 60_000,
    expect: { poll: { timeout: 25_000 } }
  }
});
