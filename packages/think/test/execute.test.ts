/** Code execution: what code can do, what the model is told, and what is refused. */
import { runInAgent } from "@cloudflare/think/testing";
import { createExecuteRuntime, createExecuteTool } from "@cloudflare/think/tools/execute";
import { tool } from "ai";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { code, newExecutor, outputs } from "./execute-support";
import { sum, type ExecuteAgent } from "./worker/execute-agents";

describe("§3.2 the sandbox", () => {
  it("runs code that calls tools, and gives its value and its console output", async () => {
    const { run } = await newExecutor();
    const output = await run(`async () => {
      console.log("adding", { a: 1 });
      let total = 0;
      for (const n of [1, 2, 3]) total = await tools.sum({ a: total, b: n });
      return { total };
    }`);
    expect(output).toEqual({
      status: "completed",
      executionId: expect.stringMatching(/^exec_/),
      result: { total: 6 },
      logs: ['adding {"a":1}']
    });
  });

  it.each([
    ["an arrow function", "async () => 6 * 7"],
    ["a fenced block", "```js\nasync () => 6 * 7\n```"],
    ["a default export", "export default async () => 6 * 7"],
    ["a named function", "function answer() { return 6 * 7; }"],
    ["plain statements", "const six = 6;\nsix * 7"]
  ])("takes %s", async (_form, source) => {
    const { run } = await newExecutor();
    expect(await run(source)).toMatchObject({ status: "completed", result: 42 });
  });

  it("validates inputs before a tool runs, and says which tool does not exist", async () => {
    const { run } = await newExecutor();
    expect(await run('async () => tools.sum({ a: "one", b: 2 })')).toMatchObject({
      status: "error",
      error: expect.stringContaining("expected number")
    });
    expect(await run("async () => tools.subtract({ a: 1 })")).toMatchObject({
      status: "error",
      error: expect.stringContaining("tools.subtract does not exist")
    });
  });

  it("makes names usable, gives tools the options they expect, and leaves out tools that run elsewhere", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { run } = await newExecutor();
    expect(await run("async () => tools.send_mail_now({})")).toMatchObject({
      result: "execute:send-mail.now"
    });
    expect(await run("async () => tools.shown({})")).toMatchObject({
      error: expect.stringContaining("tools.shown does not exist")
    });
    const skipped = warn.mock.calls.filter(([line]) => String(line).includes("shown"));
    expect(skipped).toHaveLength(2);
    warn.mockRestore();
  });

  it("finds, describes and repeats steps through codemode.*", async () => {
    const { run } = await newExecutor();
    const output = await run(`async () => {
      const { results } = await codemode.search("add numbers");
      const docs = await codemode.describe("tools.sum");
      const pay = await codemode.describe("tools.pay");
      const when = await codemode.step("time", async () => 12);
      return { found: results[0].path, typed: docs.types.includes("a: number"), gated: pay.requiresApproval, when };
    }`);
    expect(output).toMatchObject({
      result: { found: "tools.sum", typed: true, gated: true, when: 12 }
    });
  });

  it("has the workspace as state.*, one object per call", async () => {
    const { run, stub } = await newExecutor();
    const output = await run(`async () => {
      await state.writeFile({ path: "/a/b.txt", content: "hello" });
      await state.writeJson({ path: "/c.json", value: { n: 1 } });
      return [await state.readFile({ path: "/a/b.txt" }), (await state.readJson({ path: "/c.json" })).n, await state.glob({ pattern: "/**/*.txt" })];
    }`);
    expect(output).toMatchObject({ result: ["hello", 1, ["/a/b.txt"]] });
    expect(await runInAgent(stub(), (agent) => agent.workspace.readFile("/a/b.txt"))).toBe("hello");
    expect(await run("async () => state.writeFile({ path: '/x' })")).toMatchObject({
      status: "error",
      error: expect.stringMatching(/writeFile.*content/)
    });
  });

  it("trap 15: tells a thrown error as a result with an id, and names the real globals", async () => {
    const { run } = await newExecutor();
    const thrown = await run('async () => { console.log("before"); throw new Error("no luck"); }');
    expect(thrown).toMatchObject({ status: "error", executionId: expect.stringMatching(/^exec_/) });
    expect(thrown).toMatchObject({ error: expect.stringMatching(/no luck[\s\S]*before/) });
    expect(await run("async () => host.read()")).toMatchObject({
      error: expect.stringMatching(/host is not defined.*tools, state, codemode/)
    });
    expect(await run("async () => { return }}")).toMatchObject({
      status: "error",
      error: expect.stringContaining("SyntaxError")
    });
  });
});

describe("§3.3 outputs", () => {
  it("are bounded for the model, while the runtime keeps the whole result", async () => {
    const { run, stub } = await newExecutor();
    const output = await run('async () => ({ text: "x".repeat(30_000) })');
    const shown = "result" in output ? String(output.result) : "";
    expect(shown.length).toBeLessThan(24_200);
    expect(shown).toContain("TRUNCATED");
    const stored = await runInAgent(stub(), async (agent: ExecuteAgent) => {
      const { runtime } = createExecuteRuntime(agent, { tools: agent.sandboxTools() });
      const [latest] = await runtime.executions(1);
      return JSON.stringify(latest?.result).length;
    });
    expect(stored).toBeGreaterThan(30_000);
  });

  it("of code that is too long have no execution", async () => {
    const { run } = await newExecutor();
    expect(await run(`async () => "${"x".repeat(1_000_000)}"`)).toMatchObject({
      status: "error",
      executionId: "",
      error: expect.stringContaining("file")
    });
  });

  it("with a value too large for the log fail with the advice to use a file; an oversized final one is only left out of the record", async () => {
    const { run, stub } = await newExecutor([], {
      tools: {
        big: tool({ inputSchema: z.object({}), execute: () => "y".repeat(1_100_000) })
      }
    });
    expect(await run("async () => { await tools.big({}); return 1; }")).toMatchObject({
      status: "error",
      error: expect.stringContaining("file")
    });
    expect(await run('async () => "z".repeat(1_100_000)')).toMatchObject({ status: "completed" });
    const note = await runInAgent(stub(), async (agent: ExecuteAgent) => {
      const { runtime } = createExecuteRuntime(agent, { tools: agent.sandboxTools() });
      return (await runtime.executions(1))[0]?.result;
    });
    expect(note).toContain("omitted");
  });

  it("reach the model in a turn, which goes on after an error", async () => {
    const { client, model } = await newExecutor([
      code("async () => tools.sum({ a: 2, b: 2 })"),
      code("async () => { throw 'just text'; }"),
      "Done."
    ]);
    const { text } = await client.chat("Add").done;
    expect(text).toBe("Done.");
    const told = JSON.stringify(model.calls[2]?.prompt);
    expect(told).toContain('"result":4');
    expect(told).toContain("just text");
    expect(told).not.toContain('"calls"');
    expect(outputs(await client.history()).map(({ status }) => status)).toEqual(["completed", "error"]);
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain("execute tool runs code in a sandbox");
  });
});

describe("§3.1 the factory", () => {
  const inAgent = async <Result>(work: (agent: ExecuteAgent) => Result | Promise<Result>) => {
    const { stub } = await newExecutor();
    return runInAgent(stub(), async (agent: ExecuteAgent) => work(agent));
  };

  it("says in an error what is missing", async () => {
    const errors = await inAgent((agent) => {
      const attempt = (work: () => unknown) => {
        try {
          work();
          return "nothing";
        } catch (error) {
          return String(error);
        }
      };
      return [
        attempt(() => createExecuteTool({ name: "x", env: {} } as never)),
        attempt(() => createExecuteTool({ name: "x", env: {}, ctx: agent.storageContext } as never)),
        attempt(() => createExecuteTool({ tools: { sum } })),
        attempt(() => createExecuteTool({ loader: agent.bindings.LOADER, tools: {} })),
        attempt(() => createExecuteTool({ loader: agent.bindings.LOADER, ctx: agent.storageContext })),
        attempt(() => createExecuteTool(agent, { tools: { "a-b": sum, a_b: sum } }))
      ];
    });
    expect(errors).toEqual([
      expect.stringContaining("ctx"),
      expect.stringContaining("LOADER"),
      expect.stringMatching(/executor.*loader/),
      expect.stringContaining("nothing to expose"),
      expect.stringContaining("nothing to expose"),
      expect.stringMatching(/a-b.*a_b/)
    ]);
  });

  it("describes the globals, the types with tools that need approval, the pause and the steps", async () => {
    const { described, own } = await inAgent((agent) => ({
      described: String(agent.getTools().execute?.description),
      own: createExecuteTool(agent, { description: "Mine." }).description
    }));
    expect(own).toBe("Mine.");
    for (const fact of ["`tools`, `state`, `codemode`", "no host, fs, require or process", "codemode.search"])
      expect(described).toContain(fact);
    for (const fact of [
      "codemode.step",
      "paused",
      "do not send it again",
      "pay: (input: PayInput)",
      "ONE object"
    ])
      expect(described).toContain(fact);
    expect(described).toContain("@param input.a - The first one.");
    expect(described).not.toContain("shown");
    expect(described).toContain("JavaScript in an isolated");
  });

  it("adds a browser as cdp.*, from the agent's binding or as given, without touching it", async () => {
    const asked: string[] = [];
    const browser = {
      fetch: async (input: RequestInfo | URL) => {
        asked.push(new Request(input).url);
        return new Response("no browser today", { status: 503 });
      }
    };
    const seen = await inAgent(async (agent) => {
      const given = createExecuteRuntime(agent, { browser });
      Object.assign(agent.bindings, { BROWSER: browser });
      const bound = createExecuteRuntime(agent).connectors.map((connector) => connector.name());
      Reflect.deleteProperty(agent.bindings, "BROWSER");
      const untouched = asked.length;
      const called = await given.tool.execute({
        code: "async () => cdp.send({ method: 'Browser.getVersion' })"
      });
      return { bound, untouched, called, description: given.tool.description };
    });
    expect(seen.bound).toEqual(["state", "cdp"]);
    expect(seen.untouched).toBe(0);
    expect(seen.description).toContain("`state`, `cdp`, `codemode`");
    expect(seen.description).toContain("Chrome DevTools Protocol");
    // The call reached the binding, whose answer is a result.
    expect(asked).not.toEqual([]);
    expect(seen.called).toMatchObject({ status: "error", error: expect.stringContaining("503") });
  });

  it("leaves state out for a workspace without the full file system, silently", async () => {
    const description = await inAgent((agent) => {
      agent.workspace = { readFile: async () => null } as never;
      return String(agent.getTools().execute?.description);
    });
    expect(description).not.toContain("`state`");
  });

  it("trap 15: shares one history between the forms when the name is the same", async () => {
    const counts = await inAgent(async (agent) => {
      const { LOADER: loader } = agent.bindings;
      const explicit = createExecuteRuntime({ ctx: agent.storageContext, loader, tools: { sum } });
      const other = createExecuteRuntime({
        ctx: agent.storageContext,
        loader,
        tools: { sum },
        name: "other"
      });
      await explicit.tool.execute({ code: "async () => 1" });
      const own = createExecuteRuntime(agent, { tools: { sum } });
      return [await own.runtime.executions(), await other.runtime.executions()].map((list) => list.length);
    });
    expect(counts).toEqual([1, 0]);
  });

  it("adds namespaces of providers, and refuses names across them", async () => {
    const { run } = await newExecutor([], { providers: [{ name: "math", tools: { sum } }] });
    expect(await run("async () => math.sum({ a: 1, b: 1 })")).toMatchObject({ result: 2 });
    expect(await run("async () => math.pay({})")).toMatchObject({
      error: expect.stringContaining("math.pay does not exist")
    });
  });

  it("finds the agent by itself while getTools() runs, so that runs can pause", async () => {
    const { stub, client, ran } = await newExecutor([
      code('async () => tools.pay({ to: "Ada", amount: 1 })'),
      "It waits."
    ]);
    await runInAgent(stub(), (agent: ExecuteAgent) => {
      agent.getTools = () => ({
        execute: createExecuteTool({ tools: agent.sandboxTools(), loader: agent.bindings.LOADER })
      });
    });
    await client.chat("Pay").done;
    expect(outputs(await client.history())).toMatchObject([{ status: "paused" }]);
    expect(await stub().pendingExecutions()).toHaveLength(1);
    expect(ran()).toEqual([]);
  });

  it("without an agent runs without history: tools.* and codemode.*, none that needs approval, no pause", async () => {
    const { plain, description } = await inAgent(async (agent) => {
      const execute = createExecuteTool({ tools: agent.sandboxTools(), loader: agent.bindings.LOADER });
      const run = (source: string) => execute.execute({ code: source });
      return {
        description: execute.description,
        plain: JSON.parse(
          JSON.stringify([
            await run("async () => (await tools.sum({ a: 1, b: 2 })) + (await codemode.sum({ a: 1, b: 2 }))"),
            await run('async () => tools.pay({ to: "Ada", amount: 1 })'),
            await run("async () => { console.log('x'); throw new Error('no'); }")
          ])
        ) as unknown
      };
    });
    expect(plain).toEqual([
      { status: "completed", executionId: "", result: 6 },
      { status: "error", executionId: "", error: expect.stringContaining("pay") },
      { status: "error", executionId: "", error: "no", logs: ["x"] }
    ]);
    expect(description).not.toContain("pay");
  });
});
