/** Issue 5: the workspace tools in real turns, checked as the model is shown them; what is stored of them; both AI SDK majors. */
import { runInAgent, toolCall, type ScriptedModel, type Script } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { newLoop } from "./loop-support";
import type { LoopTestAgent } from "./worker/loop-agents";

interface ShownResult {
  readonly toolName: string;
  readonly output: { readonly type: string; readonly value: unknown };
}

/** The tool results that came last in the prompt of a call. */
function shownIn(model: ScriptedModel, index: number): ShownResult[] {
  const prompt = (model.calls[index]?.prompt ?? []) as readonly { role: string; content: unknown }[];
  const last = prompt.at(-1);
  return last?.role === "tool" ? (last.content as ShownResult[]) : [];
}

/** One turn in which the model makes one call after the other; gives what it was shown of each, and the agent. */
async function turnOf(
  calls: readonly [name: string, input: unknown][],
  prepare: (agent: LoopTestAgent) => Promise<unknown> = async () => undefined
) {
  const script: Script = [...calls.map(([name, input]) => toolCall(name, input)), "Still here."];
  const setup = await newLoop(script, { beforeTurn: () => ({ maxSteps: calls.length + 2 }) });
  await runInAgent(setup.stub(), async (agent: LoopTestAgent) => void (await prepare(agent)));
  const { text } = await setup.client.chat("Work").done;
  const shown = calls.map((_, index) => shownIn(setup.model, index + 1)[0]?.output);
  return { ...setup, text, shown };
}

const unchanged = { created: [], updated: [], deleted: [], directoriesCreated: [], directoriesDeleted: [] };
const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...new Uint8Array(3000).fill(7));
const PDF = new TextEncoder().encode("%PDF-1.7\0 a paper");
const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

describe("what the model is shown of the workspace tools", () => {
  it("§1.3, §1.4, §2.1 text is text, errors are errors, everything else is JSON", async () => {
    const { shown, text } = await turnOf([
      ["write", { path: "/src/a.ts", content: "one\ntwo\n" }],
      ["read", { path: "/src/a.ts", offset: 2, limit: 1 }],
      ["edit", { path: "/src/a.ts", old_string: "two", new_string: "$& $1" }],
      ["read", { path: "/src/a.ts" }],
      ["list", {}],
      ["find", { pattern: "**/*.ts" }],
      ["grep", { query: "^ONE" }],
      ["grep", { query: "one", contextLines: 1 }],
      ["bash", { script: "wc -l < /src/a.ts; echo new > /b" }],
      ["read", { path: "/nope" }],
      ["delete", { path: "/src" }],
      ["delete", { path: "/src", recursive: true }]
    ]);
    expect(text).toBe("Still here.");
    const json = (value: unknown) => ({ type: "json", value });
    expect(shown).toEqual([
      json({ path: "/src/a.ts", bytesWritten: 8, lines: 3 }),
      { type: "text", value: "2\ttwo" },
      json({ path: "/src/a.ts", replaced: true, lines: 3 }),
      { type: "text", value: "1\tone\n2\t$& $1\n3\t" },
      json({ path: "/", count: 1, entries: ["src/"] }),
      json({ pattern: "**/*.ts", count: 1, files: ["/src/a.ts"] }),
      json({
        query: "^ONE",
        filesSearched: 1,
        filesWithMatches: 1,
        totalMatches: 1,
        matches: ["/src/a.ts:1: one"]
      }),
      json(
        expect.objectContaining({
          matches: [{ file: "/src/a.ts", line: 1, context: "> 1\tone\n  2\t$& $1" }]
        })
      ),
      json({ stdout: "2\n", stderr: "", exitCode: 0, changedFiles: { ...unchanged, created: ["/b"] } }),
      { type: "error-text", value: "File not found: /nope" },
      { type: "error-text", value: expect.stringContaining("set recursive") },
      json({ deleted: "/src" })
    ]);
  });

  it("§1.3, trap 1–3 images and PDFs are content parts, now and at replay, while the stored result stays small", async () => {
    const setup = await newLoop([
      [toolCall("read", { path: "/shot" }), toolCall("read", { path: "/paper" })],
      "Seen.",
      "Again.",
      "Gone."
    ]);
    await runInAgent(setup.stub(), async (agent: LoopTestAgent) => {
      await agent.workspace.writeFileBytes?.("/shot", PNG, "image/png; charset=binary");
      await agent.workspace.writeFileBytes?.("/paper", PDF);
    });
    await setup.client.chat("Look").done;
    const stored = JSON.stringify(await setup.history());
    expect(stored).toContain('"kind":"image"');
    expect(stored).toContain('"kind":"file"');
    expect(stored.length).toBeLessThan(3_000);
    await setup.client.chat("Look again").done;
    for (const index of [1, 2]) {
      const prompt = JSON.stringify(setup.model.calls[index]?.prompt);
      expect(prompt).toContain(base64(PNG));
      expect(prompt).toContain(base64(PDF));
      expect(prompt).toContain('"filename":"paper"');
      expect(prompt).toContain("/shot (image/png, 2.9 KB)");
    }
    await runInAgent(setup.stub(), (agent: LoopTestAgent) => agent.workspace.rm("/shot"));
    await setup.client.chat("And now?").done;
    const prompt = JSON.stringify(setup.model.calls[3]?.prompt);
    expect(prompt).not.toContain(base64(PNG));
    expect(prompt).toContain("Could not read file bytes of /shot");
  });

  it("§1.4, §2.1 the descriptions say what a model must know", async () => {
    const { model, client } = await newLoop(["Hello."]);
    await client.chat("Hi").done;
    const tools = new Map((model.calls[0]?.tools ?? []).map((tool) => [tool.name, JSON.stringify(tool)]));
    for (const name of ["read", "write", "edit", "list", "delete"])
      expect(tools.get(name), name).toContain("Paths are absolute");
    expect(tools.get("read")).toMatch(/offset and limit.*Images and PDF/s);
    expect(tools.get("edit")).toMatch(/exact.*only once.*empty old_string creates/s);
    expect(tools.get("grep")).toContain("ignores case unless caseSensitive");
    expect(tools.get("bash")).toMatch(/mounted at \/.*no home directory.*absolute paths.*written back/s);
  });
});

describe("bad input reaches the model as one sentence, and the turn goes on", () => {
  it("§1.4 paths and patterns", async () => {
    const { shown, text } = await turnOf(
      [
        ["read", { path: "/a\0b" }],
        ["write", { path: `/${"n".repeat(5_000)}`, content: "x" }],
        ["edit", { path: "/folder", old_string: "a", new_string: "b" }],
        ["write", { path: "/folder", content: "x" }],
        ["write", { path: "/file/below", content: "x" }],
        ["read", { path: "/no/such/parent" }],
        ["grep", { query: "(" }],
        ["grep", { query: "(?<=a)b" }],
        ["find", { pattern: "{a,b}".repeat(30) }],
        ["bash", { script: "true", cwd: "/nowhere" }],
        ["delete", { path: "/" }]
      ],
      async (agent) => {
        await agent.workspace.mkdir("/folder");
        await agent.workspace.writeFile("/file", "x");
      }
    );
    expect(text).toBe("Still here.");
    for (const output of shown) {
      const told = expect.stringMatching(/^.{10,400}$/s);
      expect(output?.value).toEqual(output?.type === "error-text" ? told : { error: told });
    }
  });

  it("§2.3 bombs in bash", { timeout: 60_000 }, async () => {
    const { shown, text } = await turnOf(
      [
        ["bash", { script: "while true; do :; done" }],
        ["bash", { script: "f() { f | f & }; f" }],
        ["bash", { script: "x=$(printf '%01000000d' 1); for i in $(seq 1000); do printf '%s' \"$x\"; done" }],
        ["bash", { script: "echo fine" }]
      ],
      async (agent) => void (agent.workspaceBash = { timeout: 3_000, maxOutputBytes: 1_000 })
    );
    expect(text).toBe("Still here.");
    for (const output of shown.slice(0, 3)) {
      expect(JSON.stringify(output).length).toBeLessThan(4_000);
      expect(output?.value).toMatchObject({ stderr: expect.stringMatching(/./) });
      expect(output?.value).not.toHaveProperty("exitCode", 0);
    }
    expect(shown[3]?.value).toMatchObject({ stdout: "fine\n", exitCode: 0 });
  });

  it("a file of 50 MB, in storage that holds such files", async () => {
    const size = 50 * 1024 * 1024;
    const big = { path: "/big.txt", name: "big.txt", type: "file", mimeType: "text/plain", size } as const;
    const loaded: string[] = [];
    const { shown, text } = await turnOf(
      [
        ["read", { path: "/big.txt" }],
        ["edit", { path: "/big.txt", old_string: "a", new_string: "b" }],
        ["grep", { query: "a" }],
        ["bash", { script: "cat /big.txt; rm -f /big.txt" }]
      ],
      async (agent) => {
        const whole = async () => {
          loaded.push("whole");
          return null;
        };
        agent.workspace = {
          ...{ readFile: whole, readFileBytes: whole, stat: () => big, glob: () => [big] },
          readDir: (path) => (path === "/" ? [big] : []),
          writeFile: async () => void loaded.push("written"),
          rm: async () => void loaded.push("removed"),
          mkdir: () => undefined
        };
      }
    );
    expect(text).toBe("Still here.");
    expect(shown[0]).toEqual({ type: "error-text", value: expect.stringContaining("50.0 MB") });
    expect(shown[1]?.value).toEqual({ error: expect.stringContaining("50.0 MB") });
    expect(shown[2]?.value).toMatchObject({ filesSkipped: 1, note: expect.stringContaining("skipped") });
    expect(shown[3]?.value).toMatchObject({ skippedFiles: ["/big.txt"], changedFiles: unchanged });
    expect(loaded).toEqual([]);
  });
});
