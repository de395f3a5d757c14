/** Tier 2 of the ladder: packages and TypeScript in the sandbox. The registry is a fake; bundler and sandbox are real. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { newExecutor } from "./execute-support";

const SHAPES = {
  "package.json": JSON.stringify({ name: "shapes", version: "1.0.0", main: "index.js" }),
  "index.js": 'import { square } from "./square.js"; export { square }; export default { name: "shapes" };',
  "square.js": "export const square = (side) => side * side;"
};

afterEach(() => void vi.restoreAllMocks());

describe("packages that are given", () => {
  it("can be imported by name, default and named exports alike", async () => {
    const { run } = await newExecutor([], { packages: { shapes: SHAPES } });
    const output = await run(`async () => {
      const { square, default: info } = await import("shapes");
      return [square(4), info.name];
    }`);
    expect(output).toMatchObject({ status: "completed", result: [16, "shapes"] });
  }, 60_000);

  it("are the only ones: others cannot be imported, and there is still no network", async () => {
    const { run } = await newExecutor([], { packages: { shapes: SHAPES } });
    expect(await run('async () => import("left-pad")')).toMatchObject({ status: "error" });
    expect(await run('async () => fetch("https://example.com")')).toMatchObject({ status: "error" });
    const plain = await newExecutor();
    expect(await plain.run('async () => import("shapes")')).toMatchObject({ status: "error" });
  }, 60_000);

  it("let the model write TypeScript", async () => {
    const { run } = await newExecutor([], { packages: {} });
    const output = await run(
      "```ts\nasync (): Promise<number> => { interface Sum { a: number; b: number } const s: Sum = { a: 1, b: 2 }; return tools.sum(s) as Promise<number>; }\n```"
    );
    expect(output).toMatchObject({ status: "completed", result: 3 });
  }, 60_000);

  it("whose registry does not answer are an error that names the package, and the next run tries again", async () => {
    const asked: string[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
      asked.push(String(input instanceof Request ? input.url : input));
      return new Response("gone", { status: 503 });
    });
    const registry = "https://registry.invalid";
    const { run } = await newExecutor([], { packages: { "left-pad": "1.3.0" }, registry });
    const source = 'async () => (await import("left-pad")).default("1", 3)';
    expect(await run(source)).toMatchObject({ status: "error", error: expect.stringContaining("left-pad") });
    const first = asked.length;
    expect(first).toBeGreaterThan(0);
    expect(asked.every((url) => url.startsWith(registry))).toBe(true);
    await run(source);
    expect(asked.length).toBeGreaterThan(first);
  }, 60_000);
});
