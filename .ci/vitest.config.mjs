import { defineConfig } from "vitest/config";

export default defineConfig({
  cacheDir: "../node_modules/.cache/vite-tooling",
  test: {
    name: "tooling",
    root: import.meta.dirname,
    environment: "node",
    include: ["**/*.test.mjs"],
    testTimeout: 30_000
  }
});
