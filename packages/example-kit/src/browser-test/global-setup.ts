/** Once per run: finds a browser, builds the example, starts it with empty state, and tells the tests where it is. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium } from "./chromium";
import { buildExample, startServer } from "./server";

/** The set-up of an example whose vitest config lies in the example's folder, as the root of its project does. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const example = project.config.root;
  project.provide("chromiumPath", await findChromium());
  await buildExample(example);
  const state = await mkdtemp(join(tmpdir(), "think-example-"));
  const server = await startServer({ example, mode: "preview", state });
  project.provide("baseUrl", server.url);
  return async () => {
    await server.stop();
    await rm(state, { recursive: true, force: true });
  };
}
