/** Facts of contract tools that need a real object: what the stock workspace promises, what queries touch, thoughts in SQLite, a sandbox's network. */
import { env, exports } from "cloudflare:workers";
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { Workspace } from "@cloudflare/shell";
import { runInAgent } from "@cloudflare/think/testing";
import { ThoughtLog } from "@cloudflare/think/tools/think";
import { createWorkspaceTools } from "@cloudflare/think/tools/workspace";
import { describe, expect, it, vi } from "vitest";
import { code, newExecutor } from "./execute-support";

let labs = 0;

const inLab = <Result>(work: (storage: DurableObjectStorage) => Promise<Result>): Promise<Result> =>
  runInDurableObject(env.ToolsLab.getByName(`facts-${(labs += 1)}`), (_lab, { storage }) => work(storage));

describe("§1.1.5 the stock workspace, as far as the tools rely on it", () => {
  it("reads, types and dates files as the contract says", () =>
    inLab(async ({ sql }) => {
      const workspace = new Workspace({ sql, name: "lab" });
      const before = Date.now() - 2_000;
      await workspace.writeFile("a//b/../c.txt", "text");
      await workspace.writeFileBytes("/data", Uint8Array.of(1));
      expect(await workspace.readFile("/../a/./c.txt")).toBe("text");
      expect(await workspace.readFile("/missing")).toBeNull();
      expect(await workspace.readFileBytes("/missing")).toBeNull();
      await expect(workspace.readFile("/a")).rejects.toThrow("EISDIR");
      await expect(workspace.writeFile(`/${"n".repeat(5_000)}`, "x")).rejects.toThrow(/4096|long/i);
      const info = await workspace.stat("/a/c.txt");
      expect(info).toMatchObject({ name: "c.txt", type: "file", mimeType: "text/plain", size: 4 });
      expect(info?.updatedAt).toBeGreaterThan(before);
      expect(await workspace.stat("/data")).toMatchObject({ mimeType: "application/octet-stream" });
    }));

  it("lists, globs and removes as the contract says", () =>
    inLab(async ({ sql }) => {
      const workspace = new Workspace({ sql, name: "lab" });
      for (const path of ["/b.ts", "/a.ts", "/d/x.ts", "/d/e/y.md"]) await workspace.writeFile(path, "x");
      await workspace.symlink("/a.ts", "/link");
      const names = async (path: string) => (await workspace.readDir(path)).map(({ name }) => name);
      expect(await names("/")).toEqual(["d", "a.ts", "b.ts", "link"]);
      expect(await names("/missing")).toEqual([]);
      expect((await workspace.readDir("/", { limit: 2, offset: 1 })).map(({ name }) => name)).toEqual([
        "a.ts",
        "b.ts"
      ]);
      const globbed = async (pattern: string) => (await workspace.glob(pattern)).map(({ path }) => path);
      expect(await globbed("/**/*.ts")).toEqual(["/a.ts", "/b.ts", "/d/x.ts"]);
      expect(await globbed("/{a,b}.ts")).toEqual(["/a.ts", "/b.ts"]);
      expect(await globbed("/d/*")).toEqual(["/d/e", "/d/x.ts"]);
      await expect(workspace.rm("/d")).rejects.toThrow("ENOTEMPTY");
      await expect(workspace.rm("/missing")).rejects.toThrow("ENOENT");
      await workspace.rm("/missing", { force: true });
      await expect(workspace.rm("/", { recursive: true })).rejects.toThrow("EPERM");
    }));

  it("without a bucket stores large files inline and warns; two that disagree about the bucket do not both come up", () =>
    inLab(async ({ sql }) => {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const workspace = new Workspace({ sql, name: "lab" });
      await workspace.writeFile("/big", "x".repeat(1_600_000));
      expect(warn).toHaveBeenCalled();
      warn.mockRestore();
      expect((await workspace.readFile("/big"))?.length).toBe(1_600_000);
      expect(() => new Workspace({ sql, name: "lab", r2: env.FILES, r2Prefix: "lab" })).toThrow(
        "different options"
      );
    }));
});

describe("§2.4 what a script makes that the workspace cannot hold", () => {
  it("is reported, the rest is written, and a file that was moved into it is still there", () =>
    inLab(async ({ sql }) => {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const workspace = new Workspace({ sql, name: "lab" });
      await workspace.writeFile("/kept", "precious");
      const { bash } = createWorkspaceTools(workspace);
      const output = await bash.execute({
        script:
          "printf '%05000000d' 1 > /big; mkdir /d; cp /big /d/full; mv /kept /d/kept; rm -r /none 2> /dev/null; echo ok > /small"
      });
      warn.mockRestore();
      expect(output).toMatchObject({
        changedFiles: { created: ["/d/kept", "/small"], deleted: ["/kept"] },
        errors: expect.arrayContaining([expect.stringContaining("/big"), expect.stringContaining("/d/full")])
      });
      expect(await workspace.readFile("/d/kept")).toBe("precious");
      expect(await workspace.readFile("/small")).toBe("ok\n");
    }));
});

describe("performance: what queries touch", () => {
  it("find and list name no column of contents, and grep only loads contents of files that its glob can mean", () =>
    inLab(async ({ sql }) => {
      const asked: string[] = [];
      const query = (text: string, ...parameters: never[]) => {
        asked.push(text);
        return sql.exec(text, ...parameters).toArray();
      };
      const backend = {
        query: query as never,
        run: (text: string, ...rest: never[]) => void query(text, ...rest)
      };
      const workspace = new Workspace({ sql: backend, name: "lab" });
      await workspace.writeFile("/src/a.ts", "needle");
      await workspace.writeFile("/src/b.md", "needle");
      const tools = createWorkspaceTools(workspace);
      asked.length = 0;
      await tools.find.execute({ pattern: "**/*" });
      await tools.list.execute({ path: "/src" });
      expect(asked).toHaveLength(2);
      expect(asked.join(" ")).not.toMatch(/\bcontent\b|\*/);
      asked.length = 0;
      await tools.grep.execute({ query: "needle", include: "/src/*.ts" });
      expect(asked).toEqual([expect.stringMatching(/CASE WHEN type = 'file' AND size <= \? AND substr/)]);
    }));
});

describe("§8.3 thoughts in a Durable Object's SQLite", () => {
  it("keep their promises, method by method, also after an eviction", async () => {
    const stub = env.ToolsLab.getByName("thoughts");
    const withLog = <Result>(work: (log: ThoughtLog) => Promise<Result>) =>
      runInDurableObject(stub, (_lab, { storage }) => work(new ThoughtLog({ storage, maxThoughts: 3 })));
    await withLog(async (log) => {
      const fresh = await log.getContext("w");
      expect(fresh).toMatchObject({ sessionId: "w", thoughts: [], metadata: { totalSteps: 0 } });
      expect(fresh.metadata.createdAt).toBe(fresh.metadata.lastUpdated);
      expect(await log.getFormattedContext("w")).toBe("No thoughts yet in this session.");
      expect(await Promise.all(["a", "b", "c", "d"].map((text) => log.addThought("w", text)))).toEqual([
        1, 2, 3, 4
      ]);
      expect(await log.addThought("v", "other\r\nlines\0")).toBe(1);
    });
    await evictDurableObject(stub);
    await withLog(async (log) => {
      expect((await log.getAllThoughts("w")).map(({ step, thought }) => [step, thought])).toEqual([
        [2, "b"],
        [3, "c"],
        [4, "d"]
      ]);
      expect(await log.getFormattedContext("v")).toMatch(
        /^Previous thoughts in this session:\n\nStep 1 \(\d{4}-.*Z\):\nother\nlines\n$/
      );
      expect(await log.getContextSummary("w")).toMatchObject({ sessionId: "w", totalSteps: 4 });
      await log.clearContext("w");
      await log.clearContext("unknown");
      expect(await log.addThought("w", "anew")).toBe(1);
      expect(await log.getAllThoughts("v")).toHaveLength(1);
    });
  });
});

describe("§3 facts of execute", () => {
  it("§3.1 a Fetcher gets all requests of the code; undefined means no network", async () => {
    const outbound = await newExecutor([], { globalOutbound: exports.default as unknown as Fetcher });
    expect(
      await outbound.run(
        'async () => { const r = await fetch("https://anywhere.example/x"); return [r.status, await r.text()]; }'
      )
    ).toMatchObject({ result: [404, "Not found"] });
    const without = await newExecutor([], { globalOutbound: undefined as unknown as null });
    expect(await without.run('async () => (await fetch("https://anywhere.example/")).status')).toMatchObject({
      status: "error"
    });
  });

  it("§3.3 what waits has its place, its namespace, its method and its arguments", async () => {
    const { client, stub } = await newExecutor([
      code('async () => { await tools.sum({ a: 1, b: 1 }); return tools.pay({ to: "Ada", amount: 1 }); }'),
      "It waits."
    ]);
    await client.chat("Pay").done;
    const [action] = (await runInAgent(stub(), (agent) => agent.pendingExecutions())) as object[];
    expect(action).toEqual({
      executionId: expect.stringMatching(/^exec_/),
      seq: expect.any(Number),
      connector: "tools",
      method: "pay",
      args: { to: "Ada", amount: 1 }
    });
  });

  it("§3.4.6 the outcome of a call that is gone is told in at most 4,000 characters", async () => {
    const setup = await newExecutor([
      code('async () => { await tools.pay({ to: "Ada", amount: 1 }); return "x".repeat(20_000); }'),
      "It waits.",
      "Told."
    ]);
    await setup.client.chat("Pay").done;
    const [action] = await runInAgent(setup.stub(), (agent) => agent.pendingExecutions());
    const told = await runInAgent(setup.stub(), async (agent) => {
      await agent.clearMessages();
      await agent.approveExecution(action?.executionId ?? "");
      await agent["waitUntilStable"]({ timeout: 10_000 });
      return JSON.stringify((await agent.getMessages())[0]);
    });
    expect(told).toContain('"role":"system"');
    expect(told.length).toBeLessThan(4_600);
    expect(told.length).toBeGreaterThan(3_500);
  });
});
