// `pnpm screenshot`: Vite loads the TypeScript, so that the script can share the helpers of the browser tests.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

await runnerImport(fileURLToPath(new URL("./support/take-screenshot.ts", import.meta.url)));
