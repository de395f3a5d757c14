/** What surprised the first readers of bash: dates, the root, scratch space; and files whose content is missing. */
import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "../../workspace/memory-workspace";
import { createBashTool, type BashToolOptions } from "./bash";
import { createWorkspaceTools } from "./create-workspace-tools";

async function workspaceWith(files: Readonly<Record<string, string>>) {
  const workspace = new MemoryWorkspace();
  for (const [path, content] of Object.entries(files)) await workspace.writeFile(path, content);
  const { bash } = createWorkspaceTools(workspace);
  return {
    workspace,
    bash,
    run: (script: string, cwd?: string) => bash.execute({ script, ...(cwd ? { cwd } : {}) })
  };
}

describe("§2.1 the bash tool", () => {
  it("tells the model where the workspace is, that paths are absolute, and what is kept", async () => {
    const { bash } = await workspaceWith({});
    for (const text of [
      "mounted at /",
      "no home directory",
      "no other mount",
      "absolute paths",
      "written back",
      "/tmp"
    ])
      expect(bash.description).toContain(text);
  });

  it("leaves out skippedFiles and errors when there are none, and sorts its lists", async () => {
    const { run } = await workspaceWith({ "/z": "1", "/a": "1" });
    expect(await run("rm /z /a; echo > /y; echo > /b; mkdir -p /q/r /c")).toEqual({
      stdout: "",
      stderr: "",
      exitCode: 0,
      changedFiles: {
        created: ["/b", "/y"],
        updated: [],
        deleted: ["/a", "/z"],
        directoriesCreated: ["/c", "/q", "/q/r"],
        directoriesDeleted: []
      }
    });
  });

  it("§2.4 reports a directory that holds new files, not only empty ones", async () => {
    const { run } = await workspaceWith({});
    expect(await run("mkdir /d; echo x > /d/f")).toMatchObject({
      changedFiles: { created: ["/d/f"], directoriesCreated: ["/d"] }
    });
  });

  it("shows no file of 1970: a storage without dates has those of the mount", async () => {
    const { run } = await workspaceWith({ "/f": "x" });
    const output = await run("ls -l /f; find / -maxdepth 1 -name f -mtime -1");
    expect(output).toMatchObject({ stdout: expect.stringMatching(/^((?!1970).)*\n\/f\n$/) });
  });

  it("says that the root was not removed, whatever the flags", async () => {
    const { run, workspace } = await workspaceWith({ "/f": "x" });
    for (const script of ["rm -rf /", "rm -r /", "rm -rf //", "rm -rf /d/.."]) {
      const output = await run(script);
      expect(JSON.stringify(output), script).toMatch(
        /Did not remove \/|refusing to remove|cannot remove|dangerous/
      );
    }
    expect(await workspace.readFile("/f")).toBe("x");
    expect(await run("rm -rf /*")).toMatchObject({ changedFiles: { deleted: ["/f"] } });
  });

  it("§2.4 keeps nothing that is new in /tmp, and says when a workspace file went there", async () => {
    const { run } = await workspaceWith({ "/f": "x" });
    expect(await run("echo scratch > /tmp/s; mv /f /tmp/g; cat /tmp/s /tmp/g")).toMatchObject({
      stdout: "scratch\nx",
      changedFiles: { created: [], deleted: ["/f"] },
      errors: ["Did not keep /tmp/g, which was /f: files there are scratch and end with the script."]
    });
    expect(await run("ls /tmp")).toMatchObject({ stdout: "" });
  });

  it("§2.2.2 protects a file whose content is missing, once a script reads it", async () => {
    const { workspace } = await workspaceWith({ "/f": "x", "/g": "y" });
    const ops: BashToolOptions["ops"] = {
      readDir: (path, page) => workspace.readDir(path, page),
      readFileBytes: async (path) => (path === "/f" ? null : await workspace.readFileBytes(path)),
      writeFile: (path, text) => workspace.writeFile(path, text),
      mkdir: (path, options) => workspace.mkdir(path, options),
      rm: (path, options) => workspace.rm(path, options)
    };
    const output = await createBashTool({ ops }).execute({ script: "cat /f /g; echo new > /f" });
    expect(output).toMatchObject({
      stdout: "y",
      exitCode: 0,
      skippedFiles: ["/f"],
      errors: [expect.stringContaining("protected workspace file /f")]
    });
    expect(await workspace.readFile("/f")).toBe("x");
  });
});

describe("issue 5, bad input for bash", () => {
  const long = "n".repeat(5000);

  it.each([
    ["a path above the root", "cat ../../../f", 0],
    ["a name of 5 KB", `cat /${long}`, 1],
    ["a missing parent", "mkdir /a/b/c", 1],
    ["a directory where a file is expected", "cat /d", 1],
    ["a file where a directory is expected", "ls /f/x", 2],
    ["an invalid regular expression", "grep -E '(' /f", 2]
  ])("%s is explained and the workspace stays", async (_, script, exitCode) => {
    const { run, workspace } = await workspaceWith({ "/f": "x", "/d/g": "y" });
    const output = await run(script, "/d");
    expect(output).toMatchObject({ exitCode, changedFiles: { created: [], updated: [], deleted: [] } });
    expect("stderr" in output && (exitCode === 0 || output.stderr !== "")).toBe(true);
    expect(await workspace.readFile("/f")).toBe("x");
  });

  it.each([
    ["recursion without end", "f() { f; }; f"],
    ["a script that calls itself", "echo 'bash /x; bash /x' > /x; bash /x"],
    ["a pipe that never ends", "while true; do echo y; done | cat > /dev/null"],
    ["a growing array", "a=(); while true; do a+=(x x x x x x x x); done"],
    ["a loop over sleep", "until false; do sleep 0; done"]
  ])("%s ends with a code and a text", { timeout: 90_000 }, async (_, script) => {
    const workspace = new MemoryWorkspace();
    const { bash } = createWorkspaceTools(workspace, { bash: { timeout: 3000 } });
    const output = await bash.execute({ script });
    expect(output).toMatchObject({ exitCode: expect.any(Number), stderr: expect.stringMatching(/./) });
    expect("exitCode" in output && output.exitCode).not.toBe(0);
  });
});
