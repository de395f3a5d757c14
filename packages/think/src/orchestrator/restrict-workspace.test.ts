/** A restricted workspace has no way out, whatever the path (`design/orchestrator.md`, invariant 7). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "../workspace/memory-workspace";
import { normalizePath } from "../workspace/paths";
import { createWorkspaceTools } from "../tools/workspace";
import { restrictWorkspace } from "./restrict-workspace";

const files = ["/a/in.txt", "/a/b/in.txt", "/ab/out.txt", "/out.txt", "/z/out.txt"];

async function filled(): Promise<MemoryWorkspace> {
  const workspace = new MemoryWorkspace();
  for (const path of files) await workspace.writeFile(path, path);
  return workspace;
}

const segment = fc.constantFrom(
  "a",
  "b",
  "ab",
  "z",
  "in.txt",
  "out.txt",
  "..",
  ".",
  "",
  "...",
  " ",
  "%2e%2e"
);
const path = fc
  .tuple(fc.constantFrom("", "/", "//", "./", "../"), fc.array(segment, { maxLength: 8 }))
  .map(([start, segments]) => start + segments.join("/"));

describe("restrictWorkspace", () => {
  it("reads, lists and changes nothing outside of its root", async () => {
    const seen: string[] = [];
    const inner = new Proxy(await filled(), {
      get(target, member, receiver) {
        const value: unknown = Reflect.get(target, member, receiver);
        if (typeof value !== "function" || member === "glob") return value;
        return (first: string, ...rest: unknown[]) => {
          seen.push(normalizePath(first));
          return value.call(target, first, ...rest);
        };
      }
    });
    const shared = restrictWorkspace(inner, { access: "read-write", root: "/a" });
    const attempt = async (work: () => unknown) => {
      try {
        await work();
      } catch {
        // Refused, or nothing there; only what was reached counts.
      }
    };
    await fc.assert(
      fc.asyncProperty(path, async (target) => {
        await attempt(() => shared.readFile(target));
        await attempt(() => shared.readFileBytes(target));
        await attempt(() => shared.readDir(target));
        await attempt(() => shared.stat(target));
        await attempt(() => shared.lstat?.(target));
        await attempt(() => shared.mkdir(target, { recursive: true }));
        await attempt(() => shared.writeFile(target, "x"));
        await attempt(() => shared.rm(target, { recursive: true }));
        expect(seen.filter((reached) => reached !== "/a" && !reached.startsWith("/a/"))).toEqual([]);
      }),
      { numRuns: 500 }
    );
  });

  it("finds only what lies in its root, and the way to it", async () => {
    const shared = restrictWorkspace(await filled(), { root: "/a/b" });
    expect((await shared.glob("/**/*.txt")).map((entry) => entry.path)).toEqual(["/a/b/in.txt"]);
    expect((await shared.readDir("/")).map((entry) => entry.path)).toEqual(["/a"]);
    expect((await shared.readDir("/a", { offset: 1 })).map((entry) => entry.path)).toEqual([]);
    expect(await shared.stat("/")).toMatchObject({ type: "directory" });
    expect(await shared.lstat?.("/a")).toMatchObject({ type: "directory" });
  });

  it("is read-only unless it says otherwise", async () => {
    const shared = restrictWorkspace(await filled());
    expect(await shared.readFile("/out.txt")).toBe("/out.txt");
    for (const change of [
      () => shared.writeFile("/a", "x"),
      () => shared.writeFileBytes?.("/a", new Uint8Array()),
      () => shared.mkdir("/n"),
      () => shared.rm("/out.txt")
    ])
      await expect(async () => change()).rejects.toThrow("EROFS");
  });

  it("lets every file tool answer a refused path with an error", async () => {
    const shared = restrictWorkspace(await filled(), { access: "read-write", root: "/a" });
    const { read, write, edit, list } = createWorkspaceTools(shared, { bash: false });
    const refused = { error: "EACCES: /out.txt is outside of /a" };
    const path = "/out.txt";
    expect(await read.execute({ path })).toEqual(refused);
    expect(await write.execute({ path, content: "x" })).toEqual(refused);
    expect(await edit.execute({ path, old_string: "o", new_string: "x" })).toEqual(refused);
    expect(await list.execute({ path })).toEqual(refused);
  });
});
