/** Once per run: bundles the Worker. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundleWorker } from "./runtime";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder with the bundled Worker. */
    readonly bundle: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bundle = await mkdtemp(join(tmpdir(), "kill-tests-"));
  await bundleWorker(bundle);
  project.provide("bundle", bundle);
  return () => rm(bundle, { recursive: true, force: true });
}
