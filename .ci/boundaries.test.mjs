// Proves that the boundary check can fail: each test plants one wrong import in a temporary `src`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import * as layers from "./layers.mjs";
import { checkBoundaries } from "./lib/boundary-check.mjs";

/** @type {string[]} */
const folders = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * Checks a temporary package with the given files in its `src`.
 *
 * @param {Readonly<Record<string, string>>} files
 */
async function problemsOf(files) {
  const folder = mkdtempSync(path.join(tmpdir(), "think-boundaries-"));
  folders.push(folder);
  // dependency-cruiser tells type imports of a package apart only when it finds the package.
  const installed = {
    "../node_modules/ai/package.json": '{ "name": "ai", "main": "index.js" }',
    "../node_modules/ai/index.js": ""
  };
  for (const [name, text] of Object.entries({ ...installed, ...files })) {
    const file = path.join(folder, "src", name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const { problems } = await checkBoundaries(folder, layers);
  return problems.join("\n");
}

const clock = "export interface Clock { now(): number }\nexport const zero = 0;\n";

describe("the boundary check", () => {
  it("accepts imports that go down, in any form", async () => {
    const problems = await problemsOf({
      "shared/clock.ts": clock,
      "stream/writer.ts": 'import type { Clock } from "../shared/clock";\nexport type Writer = Clock;\n',
      "loop/run.ts": 'import { streamText } from "ai";\nexport const run = streamText;\n',
      "turn/runner.ts": 'import type { UIMessage } from "ai";\nexport type Message = UIMessage;\n',
      "host/host.ts":
        'import { Agent } from "agents";\nimport "cloudflare:workers";\nexport const base = Agent;\n',
      "think.ts": 'import { base } from "./host/host";\nexport const Think = base;\n',
      "index.ts": 'export { Think } from "./think";\n'
    });
    expect(problems).toBe("");
  });

  it("catches an import of a higher level", async () => {
    const problems = await problemsOf({
      "shared/clock.ts": 'import { turn } from "../turn/turn";\nexport const clock = turn;\n',
      "turn/turn.ts": "export const turn = 1;\n"
    });
    expect(problems).toContain("src/shared/clock.ts imports src/turn/turn.ts");
    expect(problems).toContain("level-0-shared");
  });

  it("catches an upward import of types alone", async () => {
    const problems = await problemsOf({
      "shared/clock.ts": 'import type { Turn } from "../turn/turn";\nexport type Clock = Turn;\n',
      "turn/turn.ts": "export type Turn = 1;\n"
    });
    expect(problems).toContain("level-0-shared");
  });

  it("catches an import between folders of one level", async () => {
    const problems = await problemsOf({
      "stream/writer.ts": "export const writer = 1;\n",
      "session/tree.ts": 'import { writer } from "../stream/writer";\nexport const tree = writer;\n'
    });
    expect(problems).toContain("level-2-session");
  });

  it("catches a cycle, also when one half of it is a type import", async () => {
    const problems = await problemsOf({
      "shared/a.ts": 'import { b } from "./b";\nexport type A = typeof b;\n',
      "shared/b.ts": 'import type { A } from "./a";\nexport const b = 1;\nexport type B = A;\n'
    });
    expect(problems).toContain("no-cycle");
  });

  it("catches an import of the class, but lets a test import it", async () => {
    const problems = await problemsOf({
      "think.ts": "export class Think {}\n",
      "compose.ts": 'import type { Think } from "./think";\nexport type Host = Think;\n',
      "turn/turn.test.ts": 'import { Think } from "../think";\nexport const tested = Think;\n'
    });
    expect(problems).toContain("src/compose.ts imports src/think.ts");
    expect(problems).toContain("no-import-of-the-class");
    expect(problems).not.toContain("turn.test.ts");
  });

  it("catches the Agents SDK and the platform outside host, and the AI SDK at run time outside loop", async () => {
    const problems = await problemsOf({
      "transport/a.ts": 'import type { Agent } from "agents";\nexport type A = Agent;\n',
      "transport/b.ts": 'import { env } from "cloudflare:workers";\nexport const b = env;\n',
      "turn/c.ts": 'import { streamText } from "ai";\nexport const c = streamText;\n'
    });
    expect(problems).toContain("src/transport/a.ts imports agents");
    expect(problems).toContain("src/transport/b.ts imports cloudflare:workers");
    expect(problems).toContain("src/turn/c.ts imports node_modules/ai/");
  });

  it("keeps the test kit alone: it imports little, and nobody imports it", async () => {
    const problems = await problemsOf({
      "shared/clock.ts": clock,
      "stream/writer.ts": "export const writer = 1;\n",
      "testing/fake.ts":
        'import { zero } from "../shared/clock";\nimport { writer } from "../stream/writer";\nexport const fake = [zero, writer];\n',
      "turn/turn.ts": 'import { fake } from "../testing/fake";\nexport const turn = fake;\n'
    });
    expect(problems).toContain("src/testing/fake.ts imports src/stream/writer.ts");
    expect(problems).toContain("src/turn/turn.ts imports src/testing/fake.ts");
    expect(problems).not.toContain("src/testing/fake.ts imports src/shared/clock.ts");
  });

  it("names a folder or root file that is missing in the table", async () => {
    const problems = await problemsOf({
      "gadgets/a.ts": "export const a = 1;\n",
      "helper.ts": "export const b = 1;\n"
    });
    expect(problems).toContain("src/gadgets has no level");
    expect(problems).toContain("src/helper.ts has no level");
  });
});
