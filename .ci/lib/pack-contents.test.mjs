import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { exportTargets, packProblems } from "./pack-contents.mjs";
import { readTarball } from "./tarball.mjs";

const exports = {
  ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
  "./package.json": "./package.json"
};
const manifest = { type: "module", sideEffects: false, exports };

/**
 * @param {object} [changes] To package.json.
 * @param {Record<string, string>} [more] Files.
 */
function files(changes = {}, more = {}) {
  const all = {
    "package.json": JSON.stringify({ ...manifest, ...changes }),
    "README.md": "",
    LICENSE: "",
    "dist/index.js": "",
    "dist/index.js.map": "",
    "dist/index.d.ts": "",
    ...more
  };
  return new Map(Object.entries(all).map(([name, text]) => [name, Buffer.from(text)]));
}

describe("the packed package", () => {
  it("has no problem when it is complete", () => {
    expect(packProblems(files(), "/home/builder")).toEqual([]);
  });

  it("needs no source map for a file that only re-exports", () => {
    const more = { "dist/other.js": 'export { a as b, c } from "./chunk.js";\n' };
    expect(packProblems(files({}, more), "/home/builder")).toEqual([]);
  });

  it.each([
    ["a source file", {}, { "src/index.ts": "" }, "src/index.ts is packed"],
    ["an export without a file", { exports: { "./x": "./dist/x.js" } }, {}, "dist/x.js, which is not packed"],
    ["a missing source map", {}, { "dist/other.js": "" }, "dist/other.js has no source map"],
    ["a path of the build machine", {}, { "dist/index.js.map": "/home/builder/src/a.ts" }, "absolute path"],
    ["a workspace dependency", { dependencies: { a: "workspace:*" } }, {}, "nobody can install"],
    ["side effects", { sideEffects: true }, {}, "sideEffects"]
  ])("is refused with %s", (_what, changes, more, sentence) => {
    expect(packProblems(files(changes, more), "/home/builder").join("\n")).toContain(sentence);
  });

  it("needs a licence", () => {
    const incomplete = files();
    incomplete.delete("LICENSE");
    expect(packProblems(incomplete, "/home/builder")).toEqual(["LICENSE is missing in the package."]);
  });
});

describe("export targets", () => {
  it("name subpath, condition and file", () => {
    expect(exportTargets(exports)).toEqual([
      { subpath: ".", condition: "types", file: "dist/index.d.ts" },
      { subpath: ".", condition: "default", file: "dist/index.js" },
      { subpath: "./package.json", condition: "default", file: "package.json" }
    ]);
  });
});

describe("a tarball", () => {
  it("is read file by file, with long names and without folders", () => {
    const entries = [tarEntry("package/a.txt", "hello", "0"), tarEntry("package/dir/", "", "5")];
    const tar = Buffer.concat([
      ...entries,
      tarEntry("b.txt", "x".repeat(600), "0", "package/deep"),
      Buffer.alloc(1024)
    ]);
    const read = readTarball(gzipSync(tar));
    expect([...read.keys()]).toEqual(["a.txt", "deep/b.txt"]);
    expect(read.get("a.txt")?.toString()).toBe("hello");
    expect(read.get("deep/b.txt")?.byteLength).toBe(600);
  });
});

/**
 * @param {string} name
 * @param {string} content
 * @param {string} type
 * @param {string} [prefix]
 */
function tarEntry(name, content, type, prefix = "") {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write(type, 156);
  header.write(prefix, 345);
  return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
