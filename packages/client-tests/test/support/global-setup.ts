/** Once per run: starts the server with empty state, and tells the tests where it is. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startServer } from "./server";

declare module "vitest" {
  interface ProvidedContext {
    /** Port of the test server on this machine. */
    readonly serverPort: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const state = await mkdtemp(join(tmpdir(), "client-tests-"));
  const server = await startServer(state);
  project.provide("serverPort", server.port);
  return async () => {
    await server.stop();
    await rm(state, { recursive: true, force: true });
  };
}
