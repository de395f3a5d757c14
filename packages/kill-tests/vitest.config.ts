import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** A long turn whose runtime is killed, again and again. */
export default defineConfig({
  resolve: {
    alias: {
      "@cloudflare/think/testing": fileURLToPath(new URL("../think/src/testing/index.ts", import.meta.url))
    }
  },
  test: {
    name: "kill",
    environment: "node",
    include: [process.env.KILL_FORM === "long" ? "test/*.test.ts" : "test/kill.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // A kill and its recovery take a second or two; the long form has hundreds in one test.
    testTimeout: 1_800_000,
    hookTimeout: 60_000
  }
});
