import { expect, it } from "vitest";
import page from "../../../docs/testing.md?raw";

/** The code block of the page with this `file=` name. */
function block(file: string): string {
  const start = page.indexOf(`\`\`\`ts file=${file}\n`);
  const code = page.slice(page.indexOf("\n", start) + 1, page.indexOf("\n```", start + 1) + 1);
  if (start === -1) throw new Error(`docs/testing.md has no block named ${file}.`);
  return code;
}

it("shows the agent that runs in the suite", async () => {
  const { default: agent } = await import("./worker/testing-docs-agent.ts?raw");
  expect(block("src/index.ts")).toBe(agent);
});

it("shows the test that runs in the suite", async () => {
  const { default: example } = await import("./testing-docs.test.ts?raw");
  expect(block("test/librarian.test.ts")).toBe(
    example.replace("./worker/testing-docs-agent", "../src/index")
  );
});
