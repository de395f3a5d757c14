/** Once per run: finds a browser, builds the example, starts it with empty state, and tells the tests where it is. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium } from "./chromium";
import { buildExample, startServer } from "./server";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide("chromiumPath", await findChromium());
  await buildExample();
  const state = await mkdtemp(join(tmpdir(), "assistant-"));
  const server = await startServer({ mode: "preview", state });
  project.provide("baseUrl", server.url);
  return async () => {
    await server.stop();
    await rm(state, { recursive: true, force: true });
  };
}
