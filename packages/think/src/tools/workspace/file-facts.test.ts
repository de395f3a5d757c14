/** Facts of contract tools §1.2 to §1.4 that `file-tools.test.ts` does not show: types, boundaries, entries that vanish, odd results. */
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { MemoryWorkspace } from "../../workspace/memory-workspace";
import type { EntryInfo } from "../../workspace/workspace-like";
import { createWorkspaceTools } from "./create-workspace-tools";
import { createDeleteTool } from "./delete";
import { createEditTool } from "./edit";
import { createFindTool } from "./find";
import { formatSize } from "./format";
import { createGrepTool } from "./grep";
import { createListTool } from "./list";
import { createReadTool } from "./read";
import { createWriteTool } from "./write";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function readerOf(mimeType: string, content: Uint8Array | null, size = content?.length ?? 9) {
  const info: EntryInfo = { path: "/x", name: "x", type: "file", mimeType, size };
  return createReadTool({
    ops: {
      stat: () => info,
      readFileBytes: async () => content,
      readFile: async () => (content === null ? null : new TextDecoder().decode(content))
    }
  });
}

describe("§1.2 the tools", () => {
  it("are made one by one from the few methods each needs, in plain or in promised form", async () => {
    const store = new MemoryWorkspace();
    await store.writeFile("/a.txt", "one");
    const { readFile, writeFile, readDir, glob, rm, stat, mkdir, readFileBytes } = bound(store);
    expect(
      await createReadTool({ ops: { readFile, readFileBytes, stat } }).execute({ path: "/a.txt" })
    ).toEqual({
      path: "/a.txt",
      content: "1\tone",
      totalLines: 1
    });
    expect(
      await createWriteTool({ ops: { writeFile, mkdir } }).execute({ path: "/b/c", content: "two" })
    ).toEqual({
      path: "/b/c",
      bytesWritten: 3,
      lines: 1
    });
    const edit = createEditTool({ ops: { readFile, writeFile } });
    expect(await edit.execute({ path: "/b/c", old_string: "two", new_string: "2" })).toMatchObject({
      replaced: true
    });
    expect(await createListTool({ ops: { readDir } }).execute({})).toMatchObject({
      entries: ["b/", "a.txt (3 B)"]
    });
    expect(await createFindTool({ ops: { glob } }).execute({ pattern: "**/c" })).toMatchObject({
      files: ["/b/c"]
    });
    expect(await createGrepTool({ ops: { glob, readFile } }).execute({ query: "2" })).toMatchObject({
      totalMatches: 1
    });
    expect(await createDeleteTool({ ops: { rm } }).execute({ path: "/a.txt" })).toEqual({
      deleted: "/a.txt"
    });
  });

  it("bash is there by default and with limits, and not when switched off", () => {
    const store = new MemoryWorkspace();
    expect(Object.keys(createWorkspaceTools(store))).toContain("bash");
    expect(Object.keys(createWorkspaceTools(store, { bash: { timeout: 5 } }))).toContain("bash");
    expect(Object.keys(createWorkspaceTools(store, { bash: false }))).not.toContain("bash");
  });

  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KB"],
    [1024 * 1024 - 1, "1024.0 KB"],
    [1024 * 1024, "1.0 MB"],
    [5_000_000, "4.8 MB"]
  ])("sizes: %d is %s", (bytes, text) => expect(formatSize(bytes)).toBe(text));
});

function bound(store: MemoryWorkspace) {
  return {
    readFile: store.readFile.bind(store),
    readFileBytes: store.readFileBytes.bind(store),
    writeFile: store.writeFile.bind(store),
    readDir: store.readDir.bind(store),
    glob: store.glob.bind(store),
    rm: store.rm.bind(store),
    stat: store.stat.bind(store),
    mkdir: store.mkdir.bind(store)
  };
}

describe("§1.3 what read takes a file for", () => {
  it.each([
    ["IMAGE/PNG; q=1", "image"],
    ["image/svg+xml", "image"],
    ["application/pdf", "file"],
    ["application/zip", "binary"],
    ["application/json", "text"],
    ["application/javascript; charset=utf-8", "text"],
    ["application/x-javascript", "text"],
    ["application/typescript", "text"],
    ["application/xml", "text"],
    ["application/ld+json", "text"],
    ["application/atom+xml", "text"],
    ["text/x-anything", "text"],
    ["", "text"],
    ["binary/octet-stream", "text"]
  ])("%j is %s", async (mimeType, kind) => {
    const output = await readerOf(mimeType, bytesOf("abc")).execute({ path: "/x" });
    expect("kind" in output ? output.kind : "text").toBe(kind);
  });

  it.each([
    ["GIF87a", [...bytesOf("GIF87a")], "image/gif"],
    ["svg within the first 512 bytes", [...bytesOf(`${" ".repeat(500)}<SvG`)], "image/svg+xml"],
    ["svg behind them", [...bytesOf(`${" ".repeat(512)}<svg`)], undefined],
    ["one broken byte in 99", [...bytesOf("a".repeat(98)), 0xff], "application/octet-stream"],
    ["one broken byte in 101", [...bytesOf("a".repeat(100)), 0xff], undefined],
    ["a broken byte behind the first 4096", [...bytesOf("a".repeat(4096)), 0xff, 0xff], undefined]
  ])("bytes: %s", async (_, bytes, mediaType) => {
    const output = await readerOf("application/octet-stream", Uint8Array.from(bytes)).execute({ path: "/x" });
    expect("mediaType" in output ? output.mediaType : undefined).toBe(mediaType);
  });

  it("keeps the stored type when there are no bytes to look at, and says when a text is gone", async () => {
    expect(await readerOf("", null).execute({ path: "/x" })).toMatchObject({
      kind: "binary",
      mediaType: "application/octet-stream"
    });
    expect(await readerOf("text/plain", null).execute({ path: "/x" })).toEqual({
      error: expect.stringContaining("Could not read file")
    });
  });

  it("returns what a storage throws", async () => {
    const broken = async () => {
      throw new Error("the disk is on fire");
    };
    const tool = createReadTool({ ops: { stat: broken, readFile: broken, readFileBytes: broken } });
    expect(await tool.execute({ path: "/x" })).toEqual({ error: "the disk is on fire" });
  });
});

describe("§1.3 what the model sees", () => {
  const seen = (output: unknown, bytes: Uint8Array | null = bytesOf("x")) =>
    readerOf("image/png", bytes).toModelOutput({ input: { path: "/x" }, output });

  it("a result that is not JSON is told as such, whatever it is", async () => {
    const circle: Record<string, unknown> = { kind: "binary" };
    circle["self"] = circle;
    expect(await seen(circle)).toEqual({ type: "json", value: expect.stringContaining("not JSON") });
    for (const [output, value] of [
      [undefined, "undefined"],
      [null, "null"],
      [7, "7"],
      [true, "true"]
    ])
      expect(await seen(output)).toEqual({ type: "text", value });
  });

  it("an image of almost the limit is there whole, and one byte more is refused", async () => {
    const limit = 3.5 * 1024 * 1024;
    const output = { kind: "image", path: "/x", mediaType: "image/png" };
    const shown = JSON.stringify(await seen(output, new Uint8Array(limit)));
    expect(shown.length).toBeGreaterThan(limit * 1.33);
    expect(await seen(output, new Uint8Array(limit + 1))).toMatchObject({ type: "error-text" });
  });
});

describe("§1.4 inputs and entries", () => {
  it("are bounded by their schemas", () => {
    const { read, list, grep } = createWorkspaceTools(new MemoryWorkspace());
    const refused: [{ readonly inputSchema: z.ZodType }, unknown][] = [
      [read, { path: "/a", offset: 0 }],
      [read, { path: "/a", limit: 0 }],
      [read, { path: "/a", limit: 1.5 }],
      [list, { limit: 0 }],
      [list, { limit: 1001 }],
      [list, { offset: -1 }],
      [grep, { query: "a", contextLines: 11 }],
      [grep, {}]
    ];
    for (const [tool, input] of refused) expect(tool.inputSchema.safeParse(input).success).toBe(false);
    for (const input of [{}, { path: "/", limit: 1000, offset: 0 }])
      expect(list.inputSchema.safeParse(input).success).toBe(true);
  });

  it("list shows 200 by default, a symbolic link by its name", async () => {
    const link: EntryInfo = { path: "/l", name: "l", type: "symlink", mimeType: "", size: 3 };
    const asked: unknown[] = [];
    const tool = createListTool({
      ops: {
        readDir: (_path, page) => {
          asked.push(page);
          return [link];
        }
      }
    });
    expect(await tool.execute({})).toEqual({ path: "/", count: 1, entries: ["l"] });
    expect(asked).toEqual([{ limit: 201, offset: 0 }]);
  });

  it("trap 7: grep skips a file of 1.1 MB and counts it, finds 3 ignoring case and 1 minding it", async () => {
    const workspace = new MemoryWorkspace();
    await workspace.writeFile("/big", `${"x".repeat(1_100_000)}\nworld`);
    await workspace.writeFile("/small", "World\nworld\nWORLD");
    const { grep } = createWorkspaceTools(workspace);
    expect(await grep.execute({ query: "world" })).toMatchObject({ totalMatches: 3, filesSkipped: 1 });
    expect(await grep.execute({ query: "world", caseSensitive: true })).toMatchObject({ totalMatches: 1 });
  });

  it("grep finds one match per line, and each line from its start", async () => {
    const workspace = new MemoryWorkspace();
    await workspace.writeFile("/a", "aa a\na\naa");
    const { grep } = createWorkspaceTools(workspace);
    expect(await grep.execute({ query: "a" })).toMatchObject({ totalMatches: 3 });
  });
});
