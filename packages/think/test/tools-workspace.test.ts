/** The workspace tools on the stock workspace, in SQLite: results, and what they cost in statements and rows. */
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { Workspace } from "@cloudflare/shell";
import * as sdk from "ai";
import { convertToModelMessages, tool, type ToolSet } from "ai";
import { describe, expect, it, vi } from "vitest";
import {
  createWorkspaceTools,
  type WorkspaceLike,
  type WorkspaceToolsOptions
} from "@cloudflare/think/tools/workspace";

interface Costs {
  statements: number;
  rowsRead: number;
  rowsWritten: number;
}

/** A stock workspace whose statements are counted. */
function countedWorkspace(sql: SqlStorage, namespace = "default") {
  const costs: Costs = { statements: 0, rowsRead: 0, rowsWritten: 0 };
  const query = (text: string, ...parameters: unknown[]) => {
    const cursor = sql.exec(text, ...parameters);
    const rows = cursor.toArray();
    costs.statements++;
    costs.rowsRead += cursor.rowsRead;
    costs.rowsWritten += cursor.rowsWritten;
    return rows;
  };
  const backend = {
    query: query as never,
    run: (text: string, ...parameters: unknown[]) => void query(text, ...parameters)
  };
  const workspace = new Workspace({ sql: backend, namespace, name: "lab" });
  const costOf = async (action: () => Promise<unknown>): Promise<Costs> => {
    Object.assign(costs, { statements: 0, rowsRead: 0, rowsWritten: 0 });
    await action();
    return { ...costs };
  };
  return { workspace, costOf };
}

/** As much of R2 as the workspace uses. */
class MemoryBucket {
  readonly #objects = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Objects that were loaded whole. */
  loaded = 0;

  async put(key: string, value: Uint8Array): Promise<void> {
    this.#objects.set(key, value.slice());
  }

  async get(key: string) {
    const bytes = this.#objects.get(key);
    if (bytes === undefined) return null;
    const whole = () => {
      this.loaded++;
      return bytes;
    };
    return {
      text: async () => new TextDecoder().decode(whole()),
      arrayBuffer: async () => whole().buffer,
      body: new Blob([bytes]).stream()
    };
  }

  async delete(key: string): Promise<void> {
    this.#objects.delete(key);
  }
}

let labs = 0;

/** Runs a test inside a fresh Durable Object. */
async function inLab<T>(
  test: (lab: ReturnType<typeof countedWorkspace>, sql: SqlStorage) => Promise<T>
): Promise<T> {
  const stub = env.ToolsLab.getByName(`lab-${++labs}`);
  return await runInDurableObject(
    stub,
    async (_, ctx) => await test(countedWorkspace(ctx.storage.sql), ctx.storage.sql)
  );
}

/** Many small files at the cost of one statement per 1,000. */
async function fill(
  workspace: Workspace,
  sql: SqlStorage,
  count: number,
  text = "some text\nwith two lines"
): Promise<void> {
  await workspace.mkdir("/many/sub", { recursive: true });
  sql.exec(
    `INSERT INTO cf_workspace_default (path, parent_path, name, type, size, content)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     SELECT '/many/f' || i || '.txt', '/many', 'f' || i || '.txt', 'file', ?, ? FROM n`,
    count,
    text.length,
    text
  );
}

describe("the workspace tools on the stock workspace", () => {
  it("read, write, edit, list, find, grep and delete agree with the workspace", () =>
    inLab(async ({ workspace }) => {
      const tools = createWorkspaceTools(workspace);
      expect(Object.keys(tools)).toEqual(["read", "write", "edit", "list", "find", "grep", "delete", "bash"]);
      expect(await tools.read.execute({ path: "/src/a.ts" })).toEqual({ error: "File not found: /src/a.ts" });
      expect(await tools.write.execute({ path: "/src/a.ts", content: "one\ntwo\n" })).toMatchObject({
        bytesWritten: 8,
        lines: 3
      });
      expect(
        await tools.edit.execute({ path: "/src/a.ts", old_string: "two", new_string: "$&" })
      ).toMatchObject({ replaced: true });
      expect(await workspace.readFile("/src/a.ts")).toBe("one\n$&\n");
      expect(await tools.list.execute({ path: "/src" })).toEqual({
        path: "/src",
        count: 1,
        entries: ["a.ts (7 B)"]
      });
      expect(await tools.find.execute({ pattern: "**/*" })).toEqual({
        pattern: "**/*",
        count: 2,
        files: ["/src/", "/src/a.ts"]
      });
      expect(await tools.grep.execute({ query: "^ONE$" })).toMatchObject({
        matches: ["/src/a.ts:1: one"],
        filesSearched: 1
      });
      expect(await tools.write.execute({ path: "/src", content: "x" })).toMatchObject({
        error: expect.stringContaining("directory")
      });
      expect(await tools.write.execute({ path: "/src/a.ts/b", content: "x" })).toMatchObject({
        error: expect.stringContaining("file")
      });
      await expect(tools.delete.execute({ path: "/src" })).rejects.toThrow("recursive");
      expect(await tools.delete.execute({ path: "/src", recursive: true })).toEqual({ deleted: "/src" });
      expect(await workspace.glob("/src/**")).toEqual([]);
    }));

  it("follows symbolic links to read and edit, and keeps bash from writing through them", () =>
    inLab(async ({ workspace }) => {
      await workspace.writeFile("/real.txt", "text");
      await workspace.symlink("/real.txt", "/link.txt");
      const tools = createWorkspaceTools(workspace);
      expect(await tools.read.execute({ path: "/link.txt" })).toMatchObject({ content: "1\ttext" });
      await tools.edit.execute({ path: "/link.txt", old_string: "text", new_string: "edited" });
      expect(await workspace.readFile("/real.txt")).toBe("edited");
      const output = await tools.bash.execute({ script: "echo no > /link.txt; ls -l /" });
      expect(output).toMatchObject({
        skippedFiles: ["/link.txt"],
        errors: [expect.stringContaining("protected workspace file")]
      });
      expect(await workspace.readFile("/real.txt")).toBe("edited");
    }));

  it("explains a file that is too large for a row and goes on", () =>
    inLab(async ({ workspace }) => {
      const warning = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const tools = createWorkspaceTools(workspace);
      const output = await tools.write.execute({ path: "/big", content: "x".repeat(5_000_000) });
      expect(output).toMatchObject({ error: expect.stringContaining("too large") });
      expect(await tools.list.execute({})).toMatchObject({ count: 0 });
      warning.mockRestore();
    }));

  it("edits and greps files whose text is stored as bytes, and refuses binary ones", () =>
    inLab(async ({ workspace }) => {
      await workspace.writeFileBytes("/t", new TextEncoder().encode("grüße\nwelt"));
      await workspace.writeFileBytes("/b", Uint8Array.of(0, 1, 0xff));
      const tools = createWorkspaceTools(workspace);
      expect(await tools.grep.execute({ query: "GRÜSSE|GRÜßE" })).toMatchObject({
        totalMatches: 1,
        filesSkipped: 1
      });
      expect(await tools.edit.execute({ path: "/t", old_string: "welt", new_string: "erde" })).toMatchObject({
        replaced: true
      });
      expect(await tools.edit.execute({ path: "/b", old_string: "x", new_string: "y" })).toMatchObject({
        error: expect.stringContaining("binary")
      });
    }));

  it("reads lines of a large file in R2 without loading it, and protects it from bash", () =>
    inLab(async (_, sql) => {
      const bucket = new MemoryBucket();
      const workspace = new Workspace({ sql, namespace: "spilled", r2: bucket as never, r2Prefix: "lab" });
      await workspace.writeFile("/big.log", `${"x".repeat(99)}\n`.repeat(100_000));
      await workspace.writeFile("/medium.log", "needle\n".repeat(250_000));
      const tools = createWorkspaceTools(workspace);
      expect(await tools.read.execute({ path: "/big.log", offset: 99_999, limit: 1 })).toMatchObject({
        content: `99999\t${"x".repeat(99)}`,
        totalLines: 100_001
      });
      expect(bucket.loaded).toBe(0);
      expect(await tools.read.execute({ path: "/medium.log", limit: 1 })).toMatchObject({
        content: "1\tneedle",
        totalLines: 250_001
      });
      expect(await tools.edit.execute({ path: "/big.log", old_string: "x", new_string: "" })).toMatchObject({
        error: expect.stringContaining("split it")
      });
      expect(await tools.grep.execute({ query: "x" })).toMatchObject({ filesSkipped: 2 });
      expect(await tools.bash.execute({ script: "rm -f /big.log" })).toMatchObject({
        skippedFiles: ["/big.log"]
      });
      expect(await workspace.stat("/big.log")).not.toBeNull();
    }));

  it("works through a plain proxy of the workspace as well", () =>
    inLab(async ({ workspace }) => {
      const proxy: WorkspaceLike = {
        readFile: (path) => workspace.readFile(path),
        readFileBytes: (path) => workspace.readFileBytes(path),
        writeFile: (path, content) => workspace.writeFile(path, content),
        readDir: (path, options) => workspace.readDir(path, options),
        rm: (path, options) => workspace.rm(path, options),
        glob: (pattern) => workspace.glob(pattern),
        mkdir: (path, options) => workspace.mkdir(path, options),
        stat: (path) => workspace.stat(path)
      };
      const tools = createWorkspaceTools(proxy);
      await tools.write.execute({ path: "/a/b.txt", content: "hello" });
      expect(await tools.grep.execute({ query: "ell" })).toMatchObject({ matches: ["/a/b.txt:1: hello"] });
      expect(await tools.find.execute({ pattern: "**/**/*.txt" })).toMatchObject({ files: ["/a/b.txt"] });
      expect(await tools.bash.execute({ script: "cat /a/b.txt; mv /a /c" })).toMatchObject({
        stdout: "hello",
        changedFiles: {
          created: ["/c/b.txt"],
          deleted: ["/a/b.txt"],
          directoriesCreated: ["/c"],
          directoriesDeleted: ["/a"]
        }
      });
    }));

  it("is a tool set that both AI SDK majors accept, with media parts they do not warn about", () =>
    inLab(async ({ workspace }) => {
      const warning = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3);
      await workspace.writeFileBytes("/shot", png);
      await workspace.writeFileBytes("/paper", new TextEncoder().encode("%PDF-1.7\0"));
      const tools = createWorkspaceTools(workspace) satisfies ToolSet;
      tool(tools.read);
      const parts = await Promise.all(
        ["/shot", "/paper"].map(async (path, index) => ({
          type: "tool-read" as const,
          toolCallId: `call-${index}`,
          state: "output-available" as const,
          input: { path },
          output: await tools.read.execute({ path })
        }))
      );
      const [shot] = parts;
      const shown = await tools.read.toModelOutput({ input: shot?.input, output: shot?.output });
      const shape = "isStepCount" in sdk ? { type: "file", data: { type: "data" } } : { type: "image-data" };
      expect(shown).toMatchObject({
        type: "content",
        value: [{ type: "text" }, { ...shape, mediaType: "image/png" }]
      });
      const stored = JSON.stringify(parts);
      expect(stored).not.toContain(btoa(String.fromCharCode(...png)));
      const messages = await convertToModelMessages([{ role: "assistant", parts }], { tools });
      const seen = JSON.stringify(messages);
      expect(seen).toContain(btoa(String.fromCharCode(...png)));
      expect(seen).toContain('"image/png"');
      expect(seen).toContain('"application/pdf"');
      expect(seen).toContain('"filename":"paper"');
      expect(warning).not.toHaveBeenCalled();
      warning.mockRestore();
    }));
});

describe("performance rows 9 and 13: what the tools cost", () => {
  it("ten writes and ten reads stay below the goal of an agentic turn", () =>
    inLab(async ({ workspace, costOf }) => {
      const { read, write } = createWorkspaceTools(workspace);
      await workspace.mkdir("/src");
      const writes = await costOf(async () => {
        for (let index = 0; index < 10; index++)
          await write.execute({ path: `/src/f${index}.ts`, content: "text" });
      });
      const reads = await costOf(async () => {
        for (let index = 0; index < 10; index++) await read.execute({ path: `/src/f${index}.ts` });
      });
      expect(writes.rowsWritten).toBeLessThanOrEqual(30);
      expect(writes.rowsRead + reads.rowsRead).toBeLessThanOrEqual(60);
      expect(reads).toMatchObject({ statements: 10, rowsWritten: 0 });
    }));

  it("grep over 1,000 files reads each row once, in few statements", () =>
    inLab(async ({ workspace, costOf }, sql) => {
      await fill(workspace, sql, 1000);
      const { grep } = createWorkspaceTools(workspace);
      const costs = await costOf(async () => {
        expect(await grep.execute({ query: "nowhere" })).toMatchObject({
          filesSearched: 1000,
          totalMatches: 0
        });
      });
      expect(costs.rowsRead).toBeLessThanOrEqual(1100);
      expect(costs.statements).toBeLessThanOrEqual(20);
      expect(costs.rowsWritten).toBe(0);
    }));

  it("find, list and a narrow grep over 10,000 files read no content and no rows they do not need", () =>
    inLab(async ({ workspace, costOf }, sql) => {
      await fill(workspace, sql, 10_000, "x".repeat(5000));
      await workspace.writeFile("/other/a.md", "needle");
      const { find, list, grep } = createWorkspaceTools(workspace);
      const narrow = await costOf(() => grep.execute({ query: "needle", include: "/other/**" }));
      expect(narrow.rowsRead).toBeLessThanOrEqual(5);
      expect((await costOf(() => list.execute({}))).rowsRead).toBeLessThanOrEqual(10);
      // A sorted page of one large directory needs its names: each row once, in one statement.
      const page = await costOf(() => list.execute({ path: "/many" }));
      expect(page.rowsRead).toBeLessThanOrEqual(10_100);
      expect(page).toMatchObject({ statements: 1, rowsWritten: 0 });
      expect((await costOf(() => find.execute({ pattern: "/other/*.md" }))).rowsRead).toBeLessThanOrEqual(5);
      const wide = await costOf(async () =>
        expect(await find.execute({ pattern: "**/f99*.txt" })).toMatchObject({ count: 111 })
      );
      expect(wide.rowsRead).toBeLessThanOrEqual(10_100);
      expect(wide.statements).toBeLessThanOrEqual(12);
    }));

  it("list gives the stock workspace's order, page by page", () =>
    inLab(async ({ workspace }) => {
      for (const name of ["b", "a", "\u{1F600}", "\uFF5E", "Z", "ä", "ab", "a b"])
        await workspace.writeFile(`/${name}`, "x");
      await workspace.mkdir("/zz");
      const { list } = createWorkspaceTools(workspace);
      const expected = (await workspace.readDir("/")).map(({ name, type }) =>
        type === "directory" ? `${name}/` : `${name} (1 B)`
      );
      const pages = await Promise.all([0, 4, 8].map((offset) => list.execute({ limit: 4, offset })));
      expect(pages.flatMap((page) => ("entries" in page ? page.entries : []))).toEqual(expected);
    }));

  it("bash true on 1,000 files costs nothing, and a script pays for what it touches", () =>
    inLab(async ({ workspace, costOf }, sql) => {
      await fill(workspace, sql, 1000);
      const { bash } = createWorkspaceTools(workspace);
      const idle = await costOf(() => bash.execute({ script: "true" }));
      const one = await costOf(async () =>
        expect(await bash.execute({ script: "cat /many/f500.txt" })).toMatchObject({ exitCode: 0 })
      );
      const all = await costOf(async () => {
        const output = await bash.execute({
          script: "grep -rl 'two lines' /many | wc -l; cp /many/f1.txt /tmp/x"
        });
        expect(output).toMatchObject({ stdout: expect.stringContaining("1000") });
      });
      expect(idle).toEqual({ statements: 0, rowsRead: 0, rowsWritten: 0 });
      expect(one.rowsRead).toBeLessThanOrEqual(3);
      expect(all.rowsRead).toBeLessThanOrEqual(2100);
      expect([idle.rowsWritten, one.rowsWritten, all.rowsWritten]).toEqual([0, 0, 0]);
    }));

  it("a subclass of the workspace sees every call", () =>
    inLab(async (_, sql) => {
      class Audited extends Workspace {
        readonly seen: string[] = [];
        override async readFile(path: string): Promise<string | null> {
          this.seen.push(path);
          return await super.readFile(path);
        }
      }
      const workspace = new Audited({ sql, namespace: "audited" });
      await workspace.writeFile("/a", "hello");
      const { grep } = createWorkspaceTools(workspace);
      expect(await grep.execute({ query: "hello" })).toMatchObject({ totalMatches: 1 });
      expect(workspace.seen).toEqual(["/a"]);
    }));
});

describe("§2 bash in workerd", () => {
  const run = (script: string, options: WorkspaceToolsOptions & { bash?: object } = {}) =>
    inLab(async ({ workspace }) => {
      await workspace.writeFile("/a.txt", "alpha\nbeta\n");
      await workspace.writeFileBytes("/data.bin", Uint8Array.of(0, 255, 1));
      const tools = createWorkspaceTools(workspace, { bash: options.bash ?? {} });
      const output = await tools.bash.execute({ script });
      if ("error" in output) throw new Error(output.error);
      const files = (await workspace.glob("/**")).map((entry) => entry.path);
      return {
        ...output,
        files,
        data: await workspace.readFileBytes("/data.bin"),
        alpha: await workspace.stat("/a.txt")
      };
    });

  it("runs the usual text tools and writes back", async () => {
    const output = await run(
      "sed -i s/beta/gamma/ /a.txt; sort -r /a.txt; mkdir -p /x/y; cp /data.bin /x/y/; jq -n '{a:1}' -c"
    );
    expect(output).toMatchObject({
      stdout: 'gamma\nalpha\n{"a":1}\n',
      exitCode: 0,
      changedFiles: { created: ["/x/y/data.bin"], updated: ["/a.txt"], directoriesCreated: ["/x", "/x/y"] },
      alpha: { mimeType: "text/plain" }
    });
    expect(output.data).toEqual(Uint8Array.of(0, 255, 1));
  });

  it("contains an endless loop and keeps what was done before", async () => {
    const output = await run("echo kept > /kept; while true; do :; done");
    expect(output.exitCode).not.toBe(0);
    expect(output.stderr).not.toBe("");
    expect(output.files).toContain("/kept");
  }, 90_000);

  it("stops a waiting script at its time-out", async () => {
    const output = await run("echo kept > /kept; sleep 60", { bash: { timeout: 2_000 } });
    expect(output).toMatchObject({ exitCode: 124, stderr: expect.stringContaining("time-out") });
    expect(output.files).toContain("/kept");
  });

  it("shows scripts the dates of the workspace's files", () =>
    inLab(async ({ workspace }, sql) => {
      await workspace.writeFile("/old", "x");
      await workspace.writeFile("/new", "x");
      sql.exec("UPDATE cf_workspace_default SET modified_at = unixepoch('2020-02-03') WHERE path = '/old'");
      const { bash } = createWorkspaceTools(workspace);
      const script = "[ /new -nt /old ] && echo newer; ls -l /old; find / -maxdepth 1 -newer /old -type f";
      expect(await bash.execute({ script })).toMatchObject({
        stdout: expect.stringMatching(/^newer\n.*2020.*\n\/new\n$/)
      });
    }));

  it("has no network by default, and the one that is configured", async () => {
    expect(await run("curl https://example.com")).toMatchObject({ exitCode: 127 });
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("pong"));
    expect(await run("curl -s https://any.example/", { bash: { network: true } })).toMatchObject({
      stdout: "pong"
    });
    expect(
      (await run("curl -s https://any.example/", { bash: { network: ["https://ok.example/"] } })).exitCode
    ).not.toBe(0);
    expect(fetched).toHaveBeenCalledTimes(1);
    fetched.mockRestore();
  });
});
