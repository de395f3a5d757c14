/** The browser tools with fakes of their bindings (contract tools §5). */
import {
  createBrowserRuntime,
  createBrowserTools,
  createQuickActionTools
} from "@cloudflare/think/tools/browser";
import type { CreateBrowserToolsOptions, QuickActionBinding } from "@cloudflare/think/tools/browser";
import type { ToolSet } from "ai";
import { describe, expect, it, vi } from "vitest";
import { newLoop } from "./loop-support";

type Options = CreateBrowserToolsOptions;

/** Fails the test when anything of it is used. */
function untouched<T>(what: string, allowed: object = {}): T {
  return new Proxy(allowed, {
    get: (target, key) => {
      if (key in target) return Reflect.get(target, key);
      throw new Error(`${what}.${String(key)} was touched`);
    }
  }) as T;
}

const facet = { get: () => untouched("facet") };
const fakes = {
  ctx: untouched<NonNullable<Options["ctx"]>>("ctx", {
    facets: facet,
    exports: { CodemodeRuntime: () => ({}) },
    storage: untouched("storage")
  }),
  loader: untouched<Options["loader"]>("loader"),
  browser: untouched<NonNullable<Options["browser"]>>("browser")
};

/** A Browser binding that answers every quick action with the same value. */
function answering(result: unknown, status = 200) {
  const quickAction = vi.fn<(action: string, input: unknown) => Promise<Response>>(async () =>
    Response.json(status === 200 ? { success: true, result } : { errors: [{ message: "no such page" }] }, {
      status
    })
  );
  return { quickAction, binding: { quickAction } as unknown as QuickActionBinding };
}

async function run(tools: ToolSet, name: string, input: unknown): Promise<unknown> {
  const execute = tools[name]?.execute as ((input: unknown, options: object) => unknown) | undefined;
  return await execute?.(input, { toolCallId: "1", messages: [] });
}

function accepts(tools: ToolSet, name: string, input: unknown): boolean {
  const schema: unknown = tools[name]?.inputSchema;
  return (schema as { safeParse(value: unknown): { success: boolean } }).safeParse(input).success;
}

describe("§5 browser tools", () => {
  it("have their keys with a binding, and only browser_execute without quick actions or with a CDP address alone", () => {
    const quick = ["browser_markdown", "browser_extract", "browser_links", "browser_scrape"];
    expect(Object.keys(createBrowserTools(fakes))).toEqual(["browser_execute", ...quick]);
    expect(Object.keys(createBrowserTools({ ...fakes, quickActions: false }))).toEqual(["browser_execute"]);
    const { ctx, loader } = fakes;
    expect(Object.keys(createBrowserTools({ ctx, loader, cdpUrl: "http://localhost:9222" }))).toEqual([
      "browser_execute"
    ]);
    expect(Object.keys(createBrowserTools({ ...fakes, quickActions: { actions: ["content"] } }))).toEqual([
      "browser_execute",
      "browser_content"
    ]);
  });

  it("say what is missing: a browser, a binding for quick actions, an agent", () => {
    const { ctx, loader, browser } = fakes;
    expect(() => createBrowserTools({ ctx, loader })).toThrow("must be provided");
    expect(() => createBrowserTools({ ctx, loader, cdpUrl: "http://x", quickActions: true })).toThrow(
      "binding"
    );
    expect(() => createBrowserTools({ loader, browser })).toThrow("ctx");
  });

  it("take the state of the current agent when none is given", async () => {
    const { loader, browser } = fakes;
    let outcome = "";
    const { client } = await newLoop(["done"], {
      beforeTurn: () => {
        try {
          outcome = Object.keys(createBrowserTools({ loader, browser })).join();
        } catch (error) {
          outcome = String(error);
        }
      }
    });
    await client.chat("Hi").done;
    // A Worker that does not export the runtime's class is told so, and that is the step after the state was found.
    expect(outcome).toMatch(/browser_execute|CodemodeRuntime is not exported/);
  });

  it("describe the cdp namespace, and give runtime and connector to host code", () => {
    const { runtime, connector, tools } = createBrowserRuntime(fakes);
    expect(tools["browser_execute"]?.description).toContain("cdp");
    expect(connector.name()).toBe("cdp");
    for (const method of ["sessionInfo", "closeSession", "sweep"] as const)
      expect(connector[method]).toBeInstanceOf(Function);
    expect(runtime).toHaveProperty("tool");
  });

  it("check the input of quick actions", () => {
    const tools = createQuickActionTools({ browser: answering("x").binding });
    const page = { url: "https://example.com" };
    expect(accepts(tools, "browser_markdown", {})).toBe(false);
    expect(accepts(tools, "browser_markdown", { html: "<p>x" })).toBe(true);
    expect(accepts(tools, "browser_markdown", { url: "nonsense" })).toBe(false);
    expect(accepts(tools, "browser_extract", page)).toBe(false);
    expect(accepts(tools, "browser_extract", { ...page, prompt: "prices" })).toBe(true);
    expect(accepts(tools, "browser_scrape", { ...page, selectors: [] })).toBe(false);
    expect(accepts(tools, "browser_scrape", { ...page, selectors: ["h1"] })).toBe(true);
  });

  it("bound the results of quick actions and keep their shape; 0 switches that off", async () => {
    const page = { url: "https://example.com" };
    const long = "x".repeat(60_000);
    const text = await run(
      createQuickActionTools({ browser: answering(long).binding }),
      "browser_markdown",
      page
    );
    expect(String(text).length).toBeLessThan(50_100);
    const links = Array.from({ length: 5000 }, (_, index) => `https://example.com/${index}`);
    const list = await run(
      createQuickActionTools({ browser: answering(links).binding }),
      "browser_links",
      page
    );
    expect(list).toEqual(links.slice(0, (list as string[]).length));
    expect(JSON.stringify(list).length).toBeLessThanOrEqual(50_000);
    const object = createQuickActionTools({ browser: answering({ long }).binding });
    expect(await run(object, "browser_extract", { ...page, prompt: "x" })).toEqual({
      truncated: true,
      note: expect.any(String),
      preview: expect.any(String)
    });
    const free = createQuickActionTools({ browser: answering(long).binding, maxChars: 0 });
    expect(await run(free, "browser_markdown", page)).toBe(long);
  });

  it("ask the binding once, and tell what it answered when it fails", async () => {
    const { binding, quickAction } = answering("# Page");
    const tools = createQuickActionTools({ browser: binding });
    expect(await run(tools, "browser_markdown", { url: "https://example.com" })).toBe("# Page");
    expect(quickAction).toHaveBeenCalledExactlyOnceWith("markdown", { url: "https://example.com" });
    const failing = createQuickActionTools({ browser: answering(null, 404).binding });
    await expect(run(failing, "browser_markdown", { url: "https://example.com" })).rejects.toThrow(
      "no such page"
    );
  });
});
