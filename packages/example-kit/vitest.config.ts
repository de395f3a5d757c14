import { defineConfig } from "vitest/config";

/** The pure parts of the kit, in plain Node. Its page parts are tested through the examples. */
export default defineConfig({
  test: { name: "example-kit", environment: "node", include: ["src/**/*.test.ts"], testTimeout: 60_000 }
});
