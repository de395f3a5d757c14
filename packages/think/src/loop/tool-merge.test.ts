import type { ToolSet } from "ai";
import { expect, it, vi } from "vitest";
import { clientTools } from "./client-tools";
import { mergeTools, TOOL_SOURCES } from "./tool-merge";

const named = (description: string): ToolSet => ({
  same: { description, inputSchema: { "~standard": null } as never }
});

it("§9.1.3 lets a later source win, whatever the order of the record", () => {
  expect(TOOL_SOURCES).toEqual([
    "workspace",
    "agent",
    "extensions",
    "session",
    "skills",
    "mcp",
    "client",
    "turn"
  ]);
  for (const [index, source] of TOOL_SOURCES.entries()) {
    const sources = Object.fromEntries(
      TOOL_SOURCES.slice(0, index + 1)
        .toReversed()
        .map((name) => [name, named(name)])
    );
    expect(mergeTools(sources).same?.description).toBe(source);
  }
});

it("§7.1 makes nothing of no schemas, and tools without execute of schemas", () => {
  expect(clientTools([])).toEqual({});
  const { ask } = clientTools([{ name: "ask" }]);
  expect(ask).toMatchObject({ description: "", inputSchema: { jsonSchema: { type: "object" } } });
  expect(ask).not.toHaveProperty("execute");
});

it("§7.1 warns of a name that comes twice and takes the last", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue(undefined);
  const tools = clientTools([
    { name: "ask", description: "first" },
    { name: "ask", description: "last" }
  ]);
  expect(tools.ask?.description).toBe("last");
  expect(warn).toHaveBeenCalledOnce();
  expect(warn.mock.calls[0]?.[0]).toContain('"ask"');
  warn.mockRestore();
});

it("keeps a client's tool names from reaching the prototype", () => {
  const tools = mergeTools({ client: clientTools([{ name: "__proto__", description: "evil" }]) });
  expect(Object.keys(tools)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(tools)).toBe(Object.prototype);
});
