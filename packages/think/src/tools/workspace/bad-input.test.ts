/** Issue 5, bad input: every file tool gets every impossible path, and answers with one sentence. */
import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "../../workspace/memory-workspace";
import { createWorkspaceTools } from "./create-workspace-tools";

async function tools() {
  const workspace = new MemoryWorkspace();
  await workspace.writeFile("/f", "x");
  await workspace.writeFile("/d/g", "y");
  const { read, write, edit, list, find, grep, delete: remove } = createWorkspaceTools(workspace);
  const calls: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
    read: (path) => read.execute({ path }),
    write: (path) => write.execute({ path, content: "new" }),
    edit: (path) => edit.execute({ path, old_string: "x", new_string: "z" }),
    list: (path) => list.execute({ path }),
    delete: (path) => remove.execute({ path })
  };
  return { workspace, calls, find, grep };
}

const names = ["read", "write", "edit", "list", "delete"] as const;

describe("issue 5, bad input for the file tools", () => {
  it.each(names)("%s refuses NUL, 4 KB names and broken Unicode in one sentence", async (name) => {
    const { calls } = await tools();
    for (const [path, text] of [
      ["/a\0b", "NUL"],
      [`/${"n".repeat(5000)}`, "4096"],
      ["/\uD800", "Unicode"]
    ] as const) {
      const output = await calls[name]?.(path);
      expect(output).toEqual({ error: expect.stringContaining(text) });
      expect(JSON.stringify(output).length).toBeLessThan(300);
    }
  });

  it.each(names)("%s never leaves the root with ..", async (name) => {
    const { calls, workspace } = await tools();
    expect(await calls[name]?.("/../../../f")).toBeDefined();
    expect((await workspace.glob("**")).every(({ path }) => !path.includes(".."))).toBe(true);
  });

  it("explains directories where files are expected, and files where directories are", async () => {
    const { calls, workspace } = await tools();
    for (const name of ["read", "write", "edit"])
      expect(await calls[name]?.("/d"), name).toEqual({ error: expect.stringMatching(/directory/) });
    for (const name of ["write"])
      expect(await calls[name]?.("/f/below"), name).toEqual({ error: expect.stringMatching(/is a file/) });
    for (const name of ["read", "edit"])
      expect(await calls[name]?.("/f/below"), name).toEqual({ error: expect.stringMatching(/./) });
    expect(await calls["list"]?.("/f")).toMatchObject({ count: 0, note: expect.stringContaining("file") });
    expect(await workspace.readFile("/f")).toBe("x");
  });

  it("makes missing parents for write, and explains them for read and edit", async () => {
    const { calls } = await tools();
    expect(await calls["read"]?.("/no/such/file")).toEqual({ error: "File not found: /no/such/file" });
    expect(await calls["edit"]?.("/no/such/file")).toEqual({ error: "File not found: /no/such/file" });
    expect(await calls["write"]?.("/no/such/file")).toMatchObject({ bytesWritten: 3 });
  });

  it.each(["(", "[", "a{2,1}", "*a", "\\", "(?<=a)b", "(a)\\1", "x".repeat(3000), "a\0"])(
    "grep explains the pattern %j, or takes it",
    async (query) => {
      const { grep } = await tools();
      const output = await grep.execute({ query });
      expect("error" in output ? output.error.length : output.totalMatches).toBeLessThan(400);
    }
  );

  it.each(["[", "{a,b", "**/".repeat(500), "{a,b}".repeat(30), "/a\0", "\\"])(
    "find explains the pattern %j, or takes it",
    async (pattern) => {
      const { find } = await tools();
      const output = await find.execute({ pattern });
      expect("error" in output ? output.error.length : output.count).toBeLessThan(400);
    }
  );

  it("a file of 50 MB is neither loaded nor changed, and each tool says why", async () => {
    const workspace = new MemoryWorkspace();
    const size = 50 * 1024 * 1024;
    await workspace.writeFileBytes("/big", new Uint8Array(size).fill(97), "text/plain");
    const all = createWorkspaceTools(workspace);
    expect(await all.read.execute({ path: "/big" })).toEqual({ error: expect.stringContaining("50.0 MB") });
    expect(await all.edit.execute({ path: "/big", old_string: "b", new_string: "c" })).toEqual({
      error: expect.stringContaining("50.0 MB")
    });
    expect(await all.grep.execute({ query: "a" })).toMatchObject({ filesSkipped: 1, totalMatches: 0 });
    expect(await all.bash.execute({ script: "wc -c /big; echo x > /big; rm -f /big" })).toMatchObject({
      skippedFiles: ["/big"],
      errors: [expect.stringContaining("protected workspace file /big")],
      changedFiles: { updated: [], deleted: [] }
    });
    expect(await workspace.stat("/big")).toMatchObject({ size });
  });
});
