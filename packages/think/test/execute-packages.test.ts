/** Tier 2 of the ladder: packages and TypeScript in the sandbox. The registry is a fake; bundler and sandbox are real. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { newExecutor } from "./execute-support";

const SHAPES = {
  "package.json": JSON.stringify({ name: "shapes", version: "1.0.0", main: "index.js" }),
  "index.js": 'import { square } from "./square.js"; export { square }; export default { name: "shapes" };',
  "square.js": "export const square = (side) => side * side;"
};

/** A gzipped tar archive as npm serves it: files below `package/`. */
async function tarball(files: Readonly<Record<string, string>>): Promise<ArrayBuffer> {
  const blocks: Uint8Array[] = [];
  for (const [path, text] of Object.entries(files)) {
    const content = new TextEncoder().encode(text);
    const header = new Uint8Array(512);
    const put = (at: number, value: string) => header.set(new TextEncoder().encode(value), at);
    put(0, `package/${path}`);
    put(100, "0000644\0");
    put(124, `${content.length.toString(8).padStart(11, "0")}\0`);
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\u000000");
    put(
      148,
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, "0")}\0 `
    );
    const padded = new Uint8Array(Math.ceil(content.length / 512) * 512);
    padded.set(content);
    blocks.push(header, padded);
  }
  const archive = Uint8Array.from([...blocks, new Uint8Array(1024)].flatMap((block) => [...block]));
  return new Response(new Blob([archive]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
}

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

  it("come from the registry by version, with what they depend on, and are fetched and bundled once per isolate", async () => {
    const registry = "https://registry.invalid";
    const square = {
      "package.json": '{"name":"square","version":"2.0.1","main":"i.js"}',
      "i.js": "module.exports = (n) => n * n;"
    };
    const shapes = {
      "package.json": '{"name":"shapes","version":"1.2.3","main":"i.js","dependencies":{"square":"^2.0.0"}}',
      "i.js": 'import square from "square"; export const area = (side) => square(side);'
    };
    const served = new Map<string, BodyInit>();
    for (const files of [square, shapes]) {
      const { name, version, dependencies } = JSON.parse(files["package.json"]) as Record<string, string>;
      const dist = { tarball: `${registry}/${name}.tgz` };
      const versions = { [version ?? ""]: { name, version, dependencies, dist } };
      served.set(`${registry}/${name}`, JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
      served.set(dist.tarball, await tarball(files));
    }
    const asked: string[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
      const url = String(input instanceof Request ? input.url : input);
      asked.push(url);
      const body = served.get(url);
      return body === undefined ? new Response("no", { status: 404 }) : new Response(body);
    });
    const { run } = await newExecutor([], { packages: { shapes: "^1.0.0" }, registry });
    const source = 'async () => (await import("shapes")).area(4)';
    expect(await run(source)).toMatchObject({ status: "completed", result: 16 });
    expect(asked.toSorted()).toEqual([...served.keys()].toSorted());
    // The tool is made anew for each turn, and for each object.
    expect(await run(source)).toMatchObject({ result: 16 });
    const other = await newExecutor([], { packages: { shapes: "^1.0.0" }, registry });
    expect(await other.run(source)).toMatchObject({ result: 16 });
    expect(asked).toHaveLength(served.size);
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
