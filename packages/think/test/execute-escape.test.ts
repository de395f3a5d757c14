/** The trust boundary "sandbox code" of `design/threat-model.md`: whatever the code tries, the host is untouched and the turn goes on. */
import { runInAgent } from "@cloudflare/think/testing";
import { describe, expect, it, vi } from "vitest";
import { code, newExecutor, outputs } from "./execute-support";

const text = (value: unknown) => JSON.stringify(value);

describe("sandbox code cannot reach out", () => {
  it("§3.2 has no network, by any door", async () => {
    const { run } = await newExecutor();
    const output = await run(`async () => {
      const attempts = {
        fetch: () => fetch("https://example.com/"),
        socket: async () => (await import("cloudflare:sockets")).connect("example.com:80").opened,
        websocket: () => new Promise((resolve, reject) => { const s = new WebSocket("wss://example.com"); s.onopen = () => resolve("open"); s.onerror = () => reject(new Error("closed")); })
      };
      const results = {};
      for (const [name, attempt] of Object.entries(attempts)) {
        try { await attempt(); results[name] = "through"; } catch (error) { results[name] = "refused"; }
      }
      return results;
    }`);
    expect(output).toMatchObject({
      result: { fetch: "refused", socket: "refused", websocket: "refused" }
    });
  });

  it("§3.2 has none of the host's globals, bindings, storage or files", async () => {
    const { run } = await newExecutor();
    const output = await run(`async () => {
      const platform = await import("cloudflare:workers");
      return {
        globals: ["process", "require", "host", "fs", "Buffer", "env", "ctx", "agent"].filter((name) => name in globalThis),
        bindings: Object.keys(platform.env ?? {}),
        exported: Object.keys(platform.exports ?? {}).filter((name) => name !== "default"),
        files: await import("node:fs").then(() => "there", () => "none"),
        eval: (() => { try { return (0, eval)("1"); } catch { return "none"; } })()
      };
    }`);
    expect(output).toMatchObject({
      status: "completed",
      result: { globals: [], bindings: [], exported: [], files: "none", eval: "none" }
    });
  });

  it("§3.2 starts from nothing each time: one run leaves no trace for the next", async () => {
    const { run } = await newExecutor();
    await run("async () => { globalThis.secret = 1; Array.prototype.map = () => 'broken'; }");
    expect(await run("async () => [typeof secret, [1].map((n) => n + 1)]")).toMatchObject({
      result: ["undefined", [2]]
    });
  });
});

describe("sandbox code cannot forge calls", () => {
  it.each([
    "tools.nope({})",
    "tools.constructor({})",
    'tools["__proto__"]({})',
    "tools.hasOwnProperty({})",
    "tools.executeTool({})",
    "state.constructor({})",
    '__connectors.tools.callTool("shown", {}).then((r) => { if (r?.message) throw new Error(r.message); })'
  ])("§3.2 %s is refused in one sentence", async (call) => {
    const { run, ran } = await newExecutor();
    const output = await run(`async () => { await ${call}; return "went through"; }`);
    expect(output).toMatchObject({ status: "error", error: expect.stringContaining("does not exist") });
    expect(ran()).toEqual([]);
  });

  it("§3.4 a gated tool cannot be reached by another way, and a forged record changes nothing", async () => {
    const { run, ran } = await newExecutor();
    const direct = await run('async () => __connectors.tools.callTool("pay", { to: "Eve", amount: 9 })');
    expect(direct).toMatchObject({ status: "paused" });
    const forged = await run(`async () => {
      try { await codemode.__stepRecord(0, { paid: 9 }); } catch (error) { return error.message; }
      return "recorded";
    }`);
    expect(forged).toMatchObject({ result: expect.stringContaining("Only codemode.step()") });
    const replayed = await run(`async () => {
      await codemode.__stepDecide("x");
      await codemode.__stepRecord(0, 1);
      await codemode.__stepRecord(0, 2);
    }`);
    expect(replayed).toMatchObject({
      status: "error",
      error: expect.stringContaining("Only codemode.step()")
    });
    expect(ran()).toEqual([]);
  });

  it.each([
    ["a function", "{ to: () => 1, amount: 1 }"],
    ["a map", "{ to: new Map([['a', 1]]), amount: 1 }"],
    ["a stream", "{ to: new ReadableStream(), amount: 1 }"]
  ])("§3.4 what is approved is what runs: %s is no argument", async (_what, args) => {
    const { run, stub } = await newExecutor();
    expect(await run(`async () => tools.pay(${args})`)).toMatchObject({ status: "error" });
    expect(await stub().pendingExecutions()).toEqual([]);
  });

  it("makes a bounded number of calls", async () => {
    const { run } = await newExecutor();
    const output = await run(
      "async () => { for (let i = 0; i < 2000; i++) await tools.nope({}).catch(() => 0); return 'x' }"
    );
    expect(output).toMatchObject({ status: "completed" });
    const counted = await run(
      "async () => { let n = 0; try { for (;;) { await codemode.search('x'); n++; } } catch (e) { return [n, e.message]; } }"
    );
    expect(counted).toMatchObject({ result: [1000, expect.stringContaining("more than 1000 calls")] });
  });

  it("cannot hang the agent with a pattern: searches take plain text and simple globs", async () => {
    const { run, stub } = await newExecutor();
    await runInAgent(stub(), (agent) => agent.workspace.writeFile("/a.txt", "a".repeat(40)));
    expect(
      await run(
        'async () => state.searchText({ path: "/a.txt", query: "(a+)+$b", options: { regex: true } })'
      )
    ).toMatchObject({ status: "error", error: expect.stringContaining("no regular expression") });
    expect(
      await run(
        'async () => state.planEdits({ instructions: [{ kind: "replace", path: "/a.txt", search: "(a+)+b", replacement: "", options: { regex: "yes" } }] })'
      )
    ).toMatchObject({ error: expect.stringContaining("no regular expression") });
    expect(await run('async () => state.glob({ pattern: "/" + "*a".repeat(20) })')).toMatchObject({
      error: expect.stringContaining("too complex")
    });
    expect(
      await run('async () => (await state.searchText({ path: "/a.txt", query: "aa" })).length > 0')
    ).toMatchObject({ result: true });
  });
});

describe("sandbox code always comes to an end", () => {
  it.each([
    ["an endless loop", "while (true) {}"],
    ["an endless loop without a block", "for (;;);"],
    ["a loop that swallows its end", "while (true) { try { while (true) {} } catch {} }"],
    ["endless recursion in two branches", "const f = () => { try { f(); } finally { f(); } }; f();"],
    [
      "an endless iterator",
      "for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }) ;"
    ],
    ["endless microtasks", "for (;;) await null;"],
    ["a loop after the clock was replaced", "Date.now = () => 0; globalThis.Error = null; while (true) {}"],
    ["memory that only grows", "const all = []; while (true) all.push({ n: all.length });"],
    ["a guard that is shadowed", "const __tick = () => {}; while (true) { __tick(); }"]
  ])("§3.2 %s", async (_what, body) => {
    const { run } = await newExecutor([], { timeout: 200 });
    expect(await run(`async () => { ${body} }`)).toMatchObject({
      status: "error",
      error: expect.stringContaining("timed out")
    });
    // Again and again: on a busy machine the short time limit may be too short for this too.
    await vi.waitFor(async () => expect(await run("async () => 'alive'")).toMatchObject({ result: "alive" }));
  });

  it("§3.1 code that waits for ever ends at the time limit, even without a clock of its own", async () => {
    const { run } = await newExecutor([], { timeout: 200 });
    expect(await run("async () => new Promise(() => {})")).toMatchObject({
      error: expect.stringContaining("timed out")
    });
    expect(
      await run(
        "async () => { globalThis.setTimeout = () => 0; Promise.race = () => new Promise(() => {}); await new Promise(() => {}); }"
      )
    ).toMatchObject({ status: "error" });
  });

  it.each([
    ["text", "throw 'plain text'", "plain text"],
    ["nothing", "throw undefined", "no Error"],
    ["null", "throw null", "no Error"],
    ["an object", "throw { code: 7 }", '{"code":7}'],
    ["an error without a message", "throw new TypeError('')", "without a message"],
    ["a trap", "throw { toJSON() { throw 1; }, get message() { throw 2; } }", "cannot be read"],
    [
      "an error with a forged message",
      "throw Object.assign(new Error(), { message: { a: 1 } })",
      "without a message"
    ],
    ["a refused promise", "await Promise.reject(42)", "42"]
  ])("a thrown %s is an error that says so", async (_what, body, said) => {
    const { run } = await newExecutor();
    expect(await run(`async () => { ${body}; }`)).toMatchObject({
      status: "error",
      error: expect.stringContaining(said)
    });
  });

  it.each([
    ["an impossible string", "'x'.repeat(2 ** 30)"],
    ["an impossible buffer", "new ArrayBuffer(2 ** 53 - 1)"],
    ["a bottomless stack", "(function deep() { return [deep()]; })()"],
    ["a result too large to carry", "'x'.repeat(40_000_000)"]
  ])("%s is an error, not the end of the agent", async (_what, expression) => {
    const { run } = await newExecutor();
    expect(await run(`async () => ${expression}`)).toMatchObject({ status: "error" });
    expect(await run("async () => 'alive'")).toMatchObject({ result: "alive" });
  });

  it("§3.3 console output and errors are bounded", async () => {
    const { run } = await newExecutor();
    const noisy = await run(
      "async () => { for (let i = 0; i < 100_000; i++) console.log('line ' + i); return 1; }"
    );
    expect(text("logs" in noisy ? noisy.logs : []).length).toBeLessThan(40_000);
    expect(text(noisy)).toContain("dropped");
    const loud = await run("async () => { throw new Error('x'.repeat(1_000_000)); }");
    expect("error" in loud ? loud.error.length : 0).toBeLessThan(10_000);
  });

  it("results that are no data come back as data", async () => {
    const { run } = await newExecutor();
    expect(await run("async () => ({ big: 10n, when: undefined, f: 1 })")).toMatchObject({
      result: { big: "10", f: 1 }
    });
    expect(await run("async () => { const a = {}; a.self = a; return a; }")).toMatchObject({
      executionId: expect.stringMatching(/^exec_/)
    });
    expect(await run("async () => () => 1")).toMatchObject({ executionId: expect.stringMatching(/^exec_/) });
  });

  it("the turn goes on after each of these", async () => {
    const { client } = await newExecutor(
      [
        code("async () => { while (true) {} }"),
        code("async () => tools.nope()"),
        code("async () => { throw 1 }"),
        "Still here."
      ],
      { timeout: 200 }
    );
    const { text: said } = await client.chat("Try").done;
    expect(said).toBe("Still here.");
    expect(outputs(await client.history()).map(({ status }) => status)).toEqual(["error", "error", "error"]);
  });
});
