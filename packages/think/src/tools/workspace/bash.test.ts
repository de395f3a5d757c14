import { describe, expect, it, vi } from "vitest";
import { MemoryWorkspace } from "../../workspace/memory-workspace";
import { createBashTool, type BashLimits } from "./bash";
import { createWorkspaceTools } from "./create-workspace-tools";

async function workspaceWith(files: Readonly<Record<string, string | Uint8Array>>, limits: BashLimits = {}) {
  const workspace = new MemoryWorkspace();
  for (const [path, content] of Object.entries(files)) {
    if (typeof content === "string") await workspace.writeFile(path, content);
    else await workspace.writeFileBytes(path, content);
  }
  const { bash } = createWorkspaceTools(workspace, { bash: limits });
  const run = async (script: string, options?: { cwd?: string; abortSignal?: AbortSignal }) => {
    const output = await bash.execute(
      { script, ...(options?.cwd === undefined ? {} : { cwd: options.cwd }) },
      options
    );
    if ("error" in output) throw new Error(output.error);
    return output;
  };
  return { workspace, bash, run };
}

const unchanged = { created: [], updated: [], deleted: [], directoriesCreated: [], directoriesDeleted: [] };

describe("§2.1, §2.3 bash results", () => {
  it("trap 12: returns output and exit code of a failing script, and keeps its changes", async () => {
    const { run, workspace } = await workspaceWith({});
    const output = await run("echo out; echo err >&2; echo kept > /f; exit 9");
    expect(output).toMatchObject({
      stdout: "out\n",
      stderr: "err\n",
      exitCode: 9,
      changedFiles: { created: ["/f"] }
    });
    expect(await workspace.readFile("/f")).toBe("kept\n");
  });

  it("§2.2.4 does not trim or indent the script, and starts in cwd", async () => {
    const { run } = await workspaceWith({ "/d/f": "here" });
    expect(await run("cat <<END\n  two blanks\nEND\ncat f", { cwd: "/d" })).toMatchObject({
      stdout: "  two blanks\nhere"
    });
  });

  it("trap 8: shows only the workspace's changes, not the shell's own files", async () => {
    const { run, workspace } = await workspaceWith({});
    const output = await run("ls / && echo ok > /ok.txt");
    expect(output.changedFiles).toEqual({ ...unchanged, created: ["/ok.txt"] });
    expect((await workspace.glob("**")).map((entry) => entry.path)).toEqual(["/", "/ok.txt"]);
  });

  it("cuts long output between characters and says how much is missing", async () => {
    const { run } = await workspaceWith({}, { maxOutputBytes: 10 });
    const output = await run("printf 'ää€€€€€€'");
    expect(output.stdout).toBe("ää€€\n... (truncated, 12 B cut off)");
  });

  it("refuses impossible input with a sentence", async () => {
    const { bash } = await workspaceWith({});
    expect(await bash.execute({ script: "true", cwd: "/a\0" })).toMatchObject({
      error: expect.stringContaining("NUL")
    });
    expect(await bash.execute({ script: "true", cwd: "/nope" })).toMatchObject({
      error: expect.stringContaining("does not exist")
    });
    expect(await bash.execute({ script: "pwd", cwd: "/tmp" })).toMatchObject({ stdout: "/tmp\n" });
    expect(await bash.execute({ script: "x".repeat(300_000) })).toMatchObject({
      error: expect.stringContaining("longer")
    });
    expect(await bash.execute({ script: "if then fi (" })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("syntax")
    });
  });
});

describe("§2.3 bash containment", () => {
  it.each([
    ["an endless loop", "while true; do :; done"],
    ["recursion", "bomb() { bomb | bomb & }; bomb"],
    ["nested shells", "echo 'bash /x' > /x; bash /x"],
    ["a gigabyte of output", "x=$(printf '%01000000d' 1); for i in $(seq 1000); do printf '%s' \"$x\"; done"],
    [
      "a gigabyte of files",
      "x=$(printf '%01000000d' 1); for i in $(seq 1000); do printf '%s' \"$x\" > /f$i || exit 3; done"
    ],
    ["a growing string", "x=a; while true; do x=$x$x; done"],
    ["braces", "echo {1..1000}{1..1000}{1..1000}"]
  ])(
    "ends %s with a code and a text",
    async (_, script) => {
      const { run } = await workspaceWith({});
      const output = await run(script);
      expect(output.exitCode).not.toBe(0);
      expect(output.stderr).not.toBe("");
      expect(JSON.stringify(output).length).toBeLessThan(300_000);
    },
    90_000
  );

  it("trap 12: stops at the time-out, and what was done before it is complete", async () => {
    const { run, workspace } = await workspaceWith({ "/a": "old" }, { timeout: 1_500 });
    const output = await run("echo one > /a; mv /a /b; sleep 60; echo never > /c");
    expect(output).toMatchObject({ exitCode: 124, stderr: expect.stringContaining("time-out") });
    expect(output.changedFiles).toEqual({ ...unchanged, created: ["/b"], deleted: ["/a"] });
    expect(await workspace.readFile("/b")).toBe("one\n");
    expect(await workspace.stat("/c")).toBeNull();
  });

  it("does not keep a file empty that a stopped command was about to write", async () => {
    const { run, workspace } = await workspaceWith({ "/a": "precious", "/b": "old" }, { timeout: 1_500 });
    const output = await run("echo new > /b; (sleep 60; echo late) > /a");
    expect(output.changedFiles).toEqual({ ...unchanged, updated: ["/b"] });
    expect(output.errors).toEqual([expect.stringContaining("Kept the old content of /a")]);
    expect(await workspace.readFile("/a")).toBe("precious");
  });

  it(
    "does not keep a file empty when a limit of the shell ends the script",
    { timeout: 90_000 },
    async () => {
      const { run, workspace } = await workspaceWith({ "/a": "precious" });
      const output = await run("while true; do echo x; done > /a");
      expect(output).toMatchObject({ exitCode: 126, changedFiles: unchanged });
      expect(await workspace.readFile("/a")).toBe("precious");
    }
  );

  it("goes on after a redirection that cannot be opened, and reports it", async () => {
    const { run } = await workspaceWith({ "/f": "1" });
    expect(await run("echo x > /f/below; echo still here")).toMatchObject({
      stdout: "still here\n",
      errors: [expect.stringContaining("/f/below")]
    });
  });

  it("§2.2.6 stops when the call is aborted", async () => {
    const { run } = await workspaceWith({});
    const controller = new AbortController();
    const running = run("echo started > /f; sleep 60", { abortSignal: controller.signal });
    setTimeout(() => controller.abort(), 1_500);
    expect(await running).toMatchObject({
      exitCode: 130,
      stderr: expect.stringContaining("cancelled"),
      changedFiles: { created: ["/f"] }
    });
    expect(await run("sleep 20", { abortSignal: AbortSignal.abort() })).toMatchObject({ exitCode: 130 });
  });
});

describe("§2.2.5 bash network", () => {
  it("has no curl unless the network is on", async () => {
    const { run } = await workspaceWith({});
    expect(await run("curl https://example.com")).toMatchObject({ exitCode: 127 });
  });

  it("reaches everything with true, and only listed prefixes with a list", async () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("pong"));
    try {
      const open = await workspaceWith({}, { network: true });
      expect(await open.run("curl -s https://any.example/x")).toMatchObject({ stdout: "pong", exitCode: 0 });
      const listed = await workspaceWith({}, { network: ["https://ok.example/api/"] });
      expect(await listed.run("curl -s https://ok.example/api/x")).toMatchObject({ stdout: "pong" });
      expect((await listed.run("curl -s https://other.example/")).exitCode).not.toBe(0);
      const configured = await workspaceWith(
        {},
        { network: { allowedUrlPrefixes: ["https://ok.example"], allowedMethods: ["POST"] } }
      );
      expect(await configured.run("curl -s -X POST https://ok.example/")).toMatchObject({ stdout: "pong" });
      expect(fetched).toHaveBeenCalledTimes(3);
    } finally {
      fetched.mockRestore();
    }
  });
});

describe("§2.2 bash snapshot limits", () => {
  it("trap 10: protects a file above the byte limit and reports it", async () => {
    const { run, workspace } = await workspaceWith(
      { "/big": "1234567", "/ok": "1" },
      { maxWorkspaceFileBytes: 3 }
    );
    const output = await run("echo x > /big; rm -f /big; mv /big /elsewhere; cat /big; cat /ok");
    expect(output).toMatchObject({
      skippedFiles: ["/big"],
      errors: [expect.stringContaining("protected workspace file /big")]
    });
    expect(output.stdout).toBe("1");
    expect(output.changedFiles).toEqual(unchanged);
    expect(await workspace.readFile("/big")).toBe("1234567");
  });

  it("keeps a directory that holds a protected file and removes the rest of it", async () => {
    const { run, workspace } = await workspaceWith(
      { "/d/big": "1234567", "/d/small": "1" },
      { maxWorkspaceFileBytes: 3 }
    );
    const output = await run("rm -rf /d");
    expect(output.changedFiles).toEqual({ ...unchanged, deleted: ["/d/small"] });
    expect(output.errors).toEqual(
      expect.arrayContaining([expect.stringContaining("protected workspace directory /d")])
    );
    expect(await workspace.readFile("/d/big")).toBe("1234567");
  });

  it("uses no more files than allowed", async () => {
    const { run } = await workspaceWith({ "/a": "1", "/b": "2" }, { maxWorkspaceFiles: 1 });
    const output = await run("cat /a; cat /b");
    expect(output).toMatchObject({ stdout: "1", skippedFiles: ["/b"] });
  });

  it("trap 9: reads a directory of more than 1000 files to its end", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1005 }, (_, index) => [`/many/f${String(index).padStart(4, "0")}`, `${index}`])
    );
    const { run } = await workspaceWith(files, { maxWorkspaceFiles: 1100 });
    expect(await run("ls /many | wc -l; cat /many/f1004")).toMatchObject({
      stdout: expect.stringMatching(/1005\s+1004/)
    });
  });

  it("§2.2.3 protects symbolic links of the workspace", async () => {
    const { workspace } = await workspaceWith({ "/target": "t" });
    const link = {
      path: "/link",
      name: "link",
      type: "symlink" as const,
      mimeType: "text/plain",
      size: 0,
      target: "/target"
    };
    const tool = createBashTool({
      ops: {
        readDir: async (path, page) => [
          ...(await workspace.readDir(path, page)),
          ...(path === "/" ? [link] : [])
        ],
        readFileBytes: (path) => workspace.readFileBytes(path),
        writeFile: (path, content) => workspace.writeFile(path, content),
        mkdir: (path, options) => workspace.mkdir(path, options),
        rm: (path, options) => workspace.rm(path, options)
      }
    });
    const output = await tool.execute({ script: "echo x > /link; rm /link; ls -l /" });
    expect(output).toMatchObject({
      skippedFiles: ["/link"],
      changedFiles: unchanged,
      errors: [expect.stringContaining("/link")]
    });
    expect(await workspace.readFile("/target")).toBe("t");
  });
});

describe("§2.4 bash write-back", () => {
  it("trap 11: saves empty directories and their removal", async () => {
    const { run, workspace } = await workspaceWith({});
    await workspace.mkdir("/old");
    expect((await run("mkdir -p /new/deep; rmdir /old")).changedFiles).toEqual({
      ...unchanged,
      directoriesCreated: ["/new", "/new/deep"],
      directoriesDeleted: ["/old"]
    });
    expect(await workspace.stat("/new/deep")).toMatchObject({ type: "directory" });
  });

  it("trap 13: keeps a workspace directory /tmp with its files, whatever the script does elsewhere", async () => {
    const { run, workspace } = await workspaceWith({ "/tmp/keep": "k", "/usr/data": "d", "/bin/mine": "m" });
    expect((await run("true")).changedFiles).toEqual(unchanged);
    expect(
      (await run("ls /tmp /usr /bin; echo scratch > /tmp/scratch; echo more >> /tmp/keep")).changedFiles
    ).toEqual({
      ...unchanged,
      updated: ["/tmp/keep"]
    });
    expect(await workspace.readFile("/tmp/keep")).toBe("kmore\n");
    expect(await workspace.stat("/tmp/scratch")).toBeNull();
    expect((await run("rm /tmp/keep; cat /usr/data /bin/mine")).changedFiles).toEqual({
      ...unchanged,
      deleted: ["/tmp/keep"]
    });
  });

  it("prefers a workspace file to the shell's own of the same name", async () => {
    const { run, workspace } = await workspaceWith({ "/bin/ls": "mine", "/usr/bin/cat": "also mine" });
    expect(await run("cat /bin/ls")).toMatchObject({ changedFiles: unchanged });
    expect(await workspace.readFile("/bin/ls")).toBe("mine");
    expect(await workspace.readFile("/usr/bin/cat")).toBe("also mine");
  });

  it("trap 13: turns files into directories and back without losing the new content", async () => {
    const { run, workspace } = await workspaceWith({ "/f": "file", "/d/x": "1", "/d/e/y": "2" });
    expect((await run("rm /f; mkdir /f; echo in > /f/g; rm -r /d; echo out > /d")).changedFiles).toEqual({
      created: ["/d", "/f/g"],
      updated: [],
      deleted: ["/d/e/y", "/d/x", "/f"],
      directoriesCreated: ["/f"],
      directoriesDeleted: ["/d", "/d/e"]
    });
    expect(await workspace.readFile("/f/g")).toBe("in\n");
    expect(await workspace.readFile("/d")).toBe("out\n");
  });

  it("keeps binary files exact, writes text as text and leaves types alone", async () => {
    const { run, workspace } = await workspaceWith({ "/bin.dat": Uint8Array.of(0, 255, 128) });
    await workspace.writeFile("/t.txt", "a");
    await run("cp /bin.dat /copy.dat; echo b >> /t.txt; echo /wA= | base64 -d > /raw; echo new > /n.txt");
    expect(await workspace.readFileBytes("/copy.dat")).toEqual(Uint8Array.of(0, 255, 128));
    expect(await workspace.readFileBytes("/raw")).toEqual(Uint8Array.of(255, 0));
    expect(await workspace.stat("/t.txt")).toMatchObject({ mimeType: "text/plain" });
    expect(await workspace.stat("/n.txt")).toMatchObject({ mimeType: "text/plain" });
  });

  it("writes nothing when a script only reads, or writes the same bytes", async () => {
    const { run, workspace } = await workspaceWith({ "/a": "same\n", "/d/b": "2" });
    const write = vi.spyOn(workspace, "writeFile");
    const remove = vi.spyOn(workspace, "rm");
    expect(
      (await run("cat /a /d/b; find / > /dev/null; echo same > /a; touch /a; chmod +x /a")).changedFiles
    ).toEqual(unchanged);
    expect(write).not.toHaveBeenCalled();
    expect(remove).not.toHaveBeenCalled();
  });

  it("keeps copies apart when one of them grows", async () => {
    const { run, workspace } = await workspaceWith({ "/a": "1" });
    await run("echo 2 >> /a; cp /a /b; echo 3 >> /a; cp /a /c; cp /b /a; echo 4 >> /a; echo 5 >> /b");
    expect(await Promise.all(["/a", "/b", "/c"].map((path) => workspace.readFile(path)))).toEqual([
      "12\n4\n",
      "12\n5\n",
      "12\n3\n"
    ]);
  });

  it("saves links to files as copies and says which it could not save", async () => {
    const { run, workspace } = await workspaceWith({ "/a": "1" });
    const output = await run("ln -s /a /copy; ln -s /nowhere /broken; mkdir /d; ln -s /d /dirlink");
    expect(output.changedFiles.created).toEqual(["/copy"]);
    expect(output.errors).toEqual([expect.stringContaining("/broken"), expect.stringContaining("/dirlink")]);
    expect(await workspace.readFile("/copy")).toBe("1");
  });

  it("goes on after a failing write and never deletes the only copy", async () => {
    const { run, workspace } = await workspaceWith({ "/a": "precious", "/b": "2" });
    vi.spyOn(workspace, "writeFile").mockImplementation(async (path) => {
      if (path === "/moved") throw new Error("disk full");
    });
    const output = await run("mv /a /moved; rm /b");
    expect(output.changedFiles).toEqual({ ...unchanged, deleted: ["/b"] });
    expect(output.errors).toEqual([expect.stringContaining("disk full"), expect.stringContaining("Kept /a")]);
    expect(await workspace.readFile("/a")).toBe("precious");
  });

  it("says when the storage cannot take binary files", async () => {
    const { workspace } = await workspaceWith({});
    const tool = createBashTool({
      ops: {
        readDir: (path, page) => workspace.readDir(path, page),
        readFileBytes: (path) => workspace.readFileBytes(path),
        writeFile: (path, content) => workspace.writeFile(path, content),
        mkdir: (path, options) => workspace.mkdir(path, options),
        rm: (path, options) => workspace.rm(path, options)
      }
    });
    expect(await tool.execute({ script: "echo /wA= | base64 -d > /raw; echo t > /text" })).toMatchObject({
      changedFiles: { created: ["/text"] },
      errors: [expect.stringContaining("does not support writeFileBytes")]
    });
  });

  it("overwrites another writer only where the script changed the same file", async () => {
    const { run, workspace } = await workspaceWith({ "/a": "1", "/b": "2" });
    const reads = vi.spyOn(workspace, "readFileBytes");
    const running = run("cat /a /b; sleep 0.1; echo script > /b");
    await vi.waitFor(() => expect(reads).toHaveBeenCalledTimes(2), { timeout: 25_000 });
    await workspace.writeFile("/a", "someone else");
    await running;
    expect(await workspace.readFile("/a")).toBe("someone else");
    expect(await workspace.readFile("/b")).toBe("script\n");
  });
});
