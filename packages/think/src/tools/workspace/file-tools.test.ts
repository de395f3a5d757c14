import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "../../workspace/memory-workspace";
import { createWorkspaceTools } from "./create-workspace-tools";
import { createReadTool } from "./read";

async function workspaceWith(files: Readonly<Record<string, string | Uint8Array>>) {
  const workspace = new MemoryWorkspace();
  for (const [path, content] of Object.entries(files)) {
    if (typeof content === "string") await workspace.writeFile(path, content);
    else await workspace.writeFileBytes(path, content);
  }
  return { workspace, ...createWorkspaceTools(workspace, { bash: false }) };
}

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

describe("read", () => {
  it("numbers lines and counts the empty one after a final newline", async () => {
    const { read } = await workspaceWith({ "/a.txt": "one\ntwo\n", "/empty": "" });
    expect(await read.execute({ path: "/a.txt" })).toEqual({
      path: "/a.txt",
      content: "1\tone\n2\ttwo\n3\t",
      totalLines: 3
    });
    expect(await read.execute({ path: "/empty" })).toEqual({ path: "/empty", content: "1\t", totalLines: 1 });
  });

  it("returns a range with the real line numbers", async () => {
    const { read } = await workspaceWith({ "/a.txt": lines(10) });
    expect(await read.execute({ path: "/a.txt", offset: 3, limit: 2 })).toEqual({
      path: "/a.txt",
      content: "3\tline 3\n4\tline 4",
      totalLines: 10,
      fromLine: 3,
      toLine: 4
    });
    expect(await read.execute({ path: "/a.txt", offset: 99 })).toMatchObject({
      content: "",
      fromLine: 99,
      toLine: 10
    });
    expect(await read.execute({ path: "/a.txt", offset: 9, limit: 50 })).toMatchObject({ toLine: 10 });
  });

  it("cuts long lines and long files and says how to go on", async () => {
    const { read } = await workspaceWith({
      "/long": "x".repeat(3000),
      "/many": lines(2500),
      "/wide": `${"y".repeat(1900)}\n`.repeat(500)
    });
    expect(await read.execute({ path: "/long" })).toMatchObject({
      content: `1\t${"x".repeat(2000)}... (truncated)`
    });
    const many = await read.execute({ path: "/many" });
    expect(many).toMatchObject({
      content: expect.stringMatching(/500 more lines truncated; read on with offset 2001\)$/),
      totalLines: 2500
    });
    const wide = await read.execute({ path: "/wide" });
    expect("content" in wide && wide.content.length).toBeLessThan(270_000);
    expect(wide).toMatchObject({ content: expect.stringContaining("more lines truncated"), totalLines: 501 });
  });

  it("returns errors for missing files, directories and impossible paths", async () => {
    const { read } = await workspaceWith({ "/d/a": "x" });
    expect(await read.execute({ path: "/nope" })).toEqual({ error: "File not found: /nope" });
    expect(await read.execute({ path: "/d" })).toMatchObject({
      error: expect.stringContaining("is a directory")
    });
    expect(await read.execute({ path: "/a\0b" })).toMatchObject({ error: expect.stringContaining("NUL") });
    expect(await read.execute({ path: `/${"n".repeat(5000)}` })).toMatchObject({
      error: expect.stringContaining("4096")
    });
    expect(await read.execute({ path: "/../../d/./a" })).toMatchObject({ content: "1\tx" });
  });

  it.each([
    ["png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], "image", "image/png"],
    ["jpeg", [0xff, 0xd8, 0xff, 0], "image", "image/jpeg"],
    ["gif", [...Buffer.from("GIF89a\0")], "image", "image/gif"],
    ["webp", [...Buffer.from("RIFF\0\0\0\0WEBP")], "image", "image/webp"],
    ["riff that is not webp", [...Buffer.from("RIFF\0\0\0\0WAVE")], "binary", "application/octet-stream"],
    ["pdf", [...Buffer.from("%PDF-1.7\0")], "file", "application/pdf"],
    ["svg", [...Buffer.from("<?xml?><SVG/>")], "image", "image/svg+xml"],
    ["four bytes with a NUL", [1, 0, 2, 3], "binary", "application/octet-stream"]
  ])("recognises %s by its bytes and stores no content", async (_, bytes, kind, mediaType) => {
    const { read } = await workspaceWith({ "/x": Uint8Array.from(bytes) });
    const output = await read.execute({ path: "/x" });
    expect(output).toMatchObject({ kind, mediaType, name: "x", sizeBytes: bytes.length });
    expect(output).not.toHaveProperty("content");
    expect("unsupported" in output).toBe(kind === "binary");
  });

  it("shows text that is stored as bytes", async () => {
    const { read } = await workspaceWith({ "/x": new TextEncoder().encode("grüße\n") });
    expect(await read.execute({ path: "/x" })).toMatchObject({ content: "1\tgrüße\n2\t" });
  });

  it("streams the lines of a 50 MB file and refuses it where the storage cannot stream", async () => {
    const chunk = new TextEncoder().encode(`${"z".repeat(99)}\n`.repeat(10_000));
    const info = {
      path: "/big",
      name: "big",
      type: "file" as const,
      mimeType: "text/plain",
      size: 50 * chunk.length
    };
    const whole = {
      stat: () => info,
      readFile: async () => expect.unreachable(),
      readFileBytes: async () => expect.unreachable()
    };
    const streaming = createReadTool({
      ops: {
        ...whole,
        readFileStream: async () =>
          new ReadableStream({
            start: (controller) => {
              for (let index = 0; index < 50; index++) controller.enqueue(chunk);
              controller.close();
            }
          })
      }
    });
    expect(await streaming.execute({ path: "/big", offset: 400_000, limit: 1 })).toMatchObject({
      content: `400000\t${"z".repeat(99)}`,
      totalLines: 500_001
    });
    expect(await createReadTool({ ops: whole }).execute({ path: "/big" })).toMatchObject({
      error: expect.stringContaining("split it")
    });
  });
});

describe("what the model sees of a read", () => {
  it("turns every stored shape into an answer", async () => {
    const { read } = await workspaceWith({ "/a": "x" });
    const seen = (output: unknown, input: unknown = { path: "/a" }) => read.toModelOutput({ input, output });
    expect(await seen("legacy text")).toEqual({ type: "text", value: "legacy text" });
    expect(await seen({ error: "no" })).toEqual({ type: "error-text", value: "no" });
    expect(await seen({ content: "1\tx" })).toEqual({ type: "text", value: "1\tx" });
    expect(await seen({ kind: "binary", path: "/a" })).toEqual({
      type: "json",
      value: { kind: "binary", path: "/a" }
    });
    expect(await seen({ kind: "image" }, {})).toEqual({ type: "json", value: { kind: "image" } });
    expect(await seen({ kind: "image", mediaType: "image/png" }, { path: "/gone" })).toMatchObject({
      type: "error-text",
      value: expect.stringContaining("Could not read file bytes")
    });
  });

  it("reads media again at replay and refuses what is too large", async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 7]);
    const { read, workspace } = await workspaceWith({ "/p": png });
    const output = await read.execute({ path: "/p" });
    const content = await read.toModelOutput({ input: { path: "/p" }, output });
    expect(JSON.stringify(content)).toContain(Buffer.from(png).toString("base64"));
    await workspace.writeFileBytes("/p", new Uint8Array(3.5 * 1024 * 1024 + 1));
    expect(await read.toModelOutput({ input: { path: "/p" }, output })).toMatchObject({
      type: "error-text",
      value: expect.stringMatching(/\/p \(image\/png, 3\.5 MB\).*inline model output limit/)
    });
  });
});

describe("write", () => {
  it("creates parents and reports bytes and lines", async () => {
    const { write, workspace } = await workspaceWith({});
    expect(await write.execute({ path: "/a/b/c.txt", content: "ü\nx" })).toEqual({
      path: "/a/b/c.txt",
      bytesWritten: 4,
      lines: 2
    });
    expect(await workspace.readFile("/a/b/c.txt")).toBe("ü\nx");
  });

  it("takes a name without a slash as a file in the root", async () => {
    const { write, workspace } = await workspaceWith({});
    await write.execute({ path: "notes.txt", content: "hi" });
    expect(await workspace.stat("/notes.txt")).toMatchObject({ type: "file" });
  });

  it("refuses directories, the root and paths below a file", async () => {
    const { write } = await workspaceWith({ "/d/a": "x" });
    expect(await write.execute({ path: "/d", content: "" })).toMatchObject({
      error: expect.stringContaining("directory")
    });
    expect(await write.execute({ path: "/", content: "" })).toMatchObject({
      error: expect.stringContaining("directory")
    });
    expect(await write.execute({ path: "/d/a/b", content: "" })).toHaveProperty("error");
  });
});

describe("edit", () => {
  const edited = async (text: string, old_string: string, new_string: string) => {
    const { edit, workspace } = await workspaceWith({ "/f": text });
    const output = await edit.execute({ path: "/f", old_string, new_string });
    return { output, text: await workspace.readFile("/f") };
  };

  it("replaces the only occurrence and takes the new text literally", async () => {
    const { output, text } = await edited("a\nb\nc", "b", "$& $$ $1 \\n");
    expect(output).toEqual({ path: "/f", replaced: true, lines: 3 });
    expect(text).toBe("a\n$& $$ $1 \\n\nc");
  });

  it("counts all occurrences, overlapping ones included, and names their lines", async () => {
    expect((await edited("aa bb\naa", "aa", "x")).output).toMatchObject({
      error: expect.stringMatching(/appears 2 times.*lines 1, 2/)
    });
    expect((await edited("aaa", "aa", "x")).output).toMatchObject({
      error: expect.stringContaining("appears 2 times")
    });
    expect((await edited("a".repeat(5000), "a", "x")).output).toMatchObject({
      error: expect.stringContaining("more than 1000 times")
    });
  });

  it("matches loosely over blanks and CRLF when that is unique", async () => {
    const blanks = await edited("x\nhello \t  world\ny", "hello world", "bye");
    expect(blanks).toEqual({
      output: { path: "/f", replaced: true, fuzzyMatch: true, lines: 3 },
      text: "x\nbye\ny"
    });
    expect((await edited("a\r\nb\r\nc", "a\nb", "z")).text).toBe("z\r\nc");
    expect((await edited("a  b\na\tb", "a b", "z")).output).toMatchObject({
      error: expect.stringContaining("multiple locations")
    });
    expect((await edited("a\n\nb", "a\nb", "z")).output).toMatchObject({
      error: expect.stringContaining("not found")
    });
  });

  it("names the nearest line when nothing matches", async () => {
    const { output, text } = await edited("const alpha = 1;\nconst beta = 2;", "const betta = 2", "x");
    expect(output).toMatchObject({ error: expect.stringMatching(/not found.*line 2: const beta = 2;/) });
    expect(text).toContain("alpha");
  });

  it("creates a file from an empty old_string, never over an existing one", async () => {
    const { edit } = await workspaceWith({ "/f": "" });
    expect(await edit.execute({ path: "/new", old_string: "", new_string: "a\nb" })).toEqual({
      path: "/new",
      created: true,
      lines: 2
    });
    expect(await edit.execute({ path: "/f", old_string: "", new_string: "a" })).toMatchObject({
      error: expect.stringContaining("already exists")
    });
    expect(await edit.execute({ path: "/nope", old_string: "a", new_string: "b" })).toEqual({
      error: "File not found: /nope"
    });
  });

  it("does not touch binary files", async () => {
    const bytes = Uint8Array.from([0x61, 0xff, 0xfe, 0x62]);
    const { edit, workspace } = await workspaceWith({ "/bin": bytes });
    expect(await edit.execute({ path: "/bin", old_string: "a", new_string: "z" })).toMatchObject({
      error: expect.stringContaining("binary")
    });
    expect(await workspace.readFileBytes("/bin")).toEqual(bytes);
  });

  it("keeps both of two edits that run at once", async () => {
    const { edit, workspace } = await workspaceWith({ "/f": "one two" });
    await Promise.all([
      edit.execute({ path: "/f", old_string: "one", new_string: "1" }),
      edit.execute({ path: "/f", old_string: "two", new_string: "2" })
    ]);
    expect(await workspace.readFile("/f")).toBe("1 2");
  });
});

describe("list, find and delete", () => {
  it("lists a page with sizes and says how to go on", async () => {
    const { list } = await workspaceWith({ "/d/x": "x", "/b.txt": "x".repeat(1536), "/a.txt": "" });
    expect(await list.execute({})).toEqual({
      path: "/",
      count: 3,
      entries: ["d/", "a.txt (0 B)", "b.txt (1.5 KB)"]
    });
    expect(await list.execute({ limit: 2 })).toMatchObject({
      count: 2,
      note: expect.stringContaining("offset 2")
    });
    expect(await list.execute({ limit: 2, offset: 2 })).toEqual({
      path: "/",
      count: 1,
      entries: ["b.txt (1.5 KB)"]
    });
    expect(await list.execute({ path: "/nope" })).toMatchObject({
      count: 0,
      entries: [],
      note: expect.stringContaining("no such")
    });
  });

  it("finds by glob and counts beyond what it shows", async () => {
    const { find } = await workspaceWith(
      Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`/src/f${index}.ts`, ""]))
    );
    expect(await find.execute({ pattern: "/src/f1?.ts" })).toMatchObject({ count: 10 });
    expect(await find.execute({ pattern: "**/*.ts" })).toMatchObject({
      count: 250,
      truncated: true,
      showing: 200
    });
    expect(await find.execute({ pattern: "*" })).toEqual({ pattern: "*", count: 1, files: ["/src/"] });
    expect(await find.execute({ pattern: `${"**/".repeat(30)}*.ts` })).toMatchObject({ count: 250 });
  });

  it("deletes, forgives a missing path and refuses a full directory", async () => {
    const { delete: remove, workspace } = await workspaceWith({ "/d/a": "x", "/b": "x" });
    expect(await remove.execute({ path: "/b" })).toEqual({ deleted: "/b" });
    expect(await remove.execute({ path: "/b" })).toEqual({ deleted: "/b" });
    await expect(remove.execute({ path: "/d" })).rejects.toThrow(/recursive/);
    expect(await remove.execute({ path: "/d", recursive: true })).toEqual({ deleted: "/d" });
    expect(await remove.execute({ path: "/", recursive: true })).toHaveProperty("error");
    expect(await workspace.glob("**")).toHaveLength(1);
  });
});

describe("grep", () => {
  const files = { "/a.txt": "Hello World\nhello world\nbye (world)", "/b/c.md": "nothing\nWORLD" };

  it("finds lines, ignoring case by default", async () => {
    const { grep } = await workspaceWith(files);
    expect(await grep.execute({ query: "^hello" })).toEqual({
      query: "^hello",
      filesSearched: 2,
      filesWithMatches: 1,
      totalMatches: 2,
      matches: ["/a.txt:1: Hello World", "/a.txt:2: hello world"]
    });
    expect(await grep.execute({ query: "Hello", caseSensitive: true })).toMatchObject({ totalMatches: 1 });
    expect(await grep.execute({ query: "(world)", fixedString: true })).toMatchObject({ totalMatches: 1 });
    expect(await grep.execute({ query: "world", include: "**/*.md" })).toMatchObject({
      filesSearched: 1,
      matches: ["/b/c.md:2: WORLD"]
    });
  });

  it("shows context lines", async () => {
    const { grep } = await workspaceWith({ "/f": "a\nb\nhit\nc\nd" });
    expect(await grep.execute({ query: "hit", contextLines: 1 })).toMatchObject({
      matches: [{ file: "/f", line: 3, context: "  2\tb\n> 3\thit\n  4\tc" }]
    });
    expect(await grep.execute({ query: "^a", contextLines: 2 })).toMatchObject({
      matches: [{ context: "> 1\ta\n  2\tb\n  3\thit" }]
    });
    expect(await grep.execute({ query: "d$", contextLines: 9 })).toMatchObject({
      matches: [{ context: "  1\ta\n  2\tb\n  3\thit\n  4\tc\n> 5\td" }]
    });
  });

  it("stops at 200 matches, skips large and binary files, and says so", async () => {
    const { grep } = await workspaceWith({
      "/many": "hit\n".repeat(300),
      "/big": `hit${" ".repeat(1024 * 1024)}`,
      "/bin": Uint8Array.of(0, 1)
    });
    expect(await grep.execute({ query: "hit" })).toMatchObject({
      totalMatches: 200,
      truncated: true,
      filesWithMatches: 1
    });
    expect(await grep.execute({ query: "nowhere" })).toMatchObject({
      totalMatches: 0,
      filesSkipped: 2,
      note: expect.stringContaining("skipped")
    });
  });

  it("shows the part of a very long line around the match", async () => {
    const { grep } = await workspaceWith({ "/min.js": `${"x".repeat(50_000)}needle${"y".repeat(50_000)}` });
    const output = await grep.execute({ query: "needle" });
    expect(output).toMatchObject({
      matches: [expect.stringMatching(/^\/min\.js:1: \.\.\.x+needley+\.\.\. \(truncated\)$/)]
    });
    expect(JSON.stringify(output).length).toBeLessThan(1000);
  });

  it("finds the end of CRLF lines and explains bad patterns", async () => {
    const { grep } = await workspaceWith({ "/f": "one\r\ntwo\r\n" });
    expect(await grep.execute({ query: "one$" })).toMatchObject({ matches: ["/f:1: one"] });
    expect(await grep.execute({ query: "(" })).toMatchObject({
      error: expect.stringContaining("Invalid regex")
    });
    expect(await grep.execute({ query: "x".repeat(5000) })).toMatchObject({
      error: expect.stringContaining("longer")
    });
  });
});
