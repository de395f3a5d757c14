import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { CONTEXT_LIMITS } from "../../shared/limits";
import {
  call,
  memoryBlock,
  memoryHistory,
  open,
  searchable,
  skills,
  toolMessage
} from "./context-world.test-support";
import type { AnyContextProvider } from "./provider";

const block = (label: string, provider: AnyContextProvider, maxTokens?: number) => ({
  label,
  config: { provider, maxTokens, description: `About ${label}` }
});
const schemaOf = (tool: { inputSchema?: unknown } | undefined) =>
  Object.keys((tool?.inputSchema as { shape: object } | undefined)?.shape ?? {});

describe("§8.7 the model's tools", () => {
  it("are offered only with a block to use them on, and name only such blocks", async () => {
    expect(await open().tools()).toEqual({});
    const soul = block("soul", { get: () => "x" });
    expect(await open({ blocks: [soul] }).tools()).toEqual({});
    const plain = await open({ blocks: [soul, block("memory", memoryBlock())] }).tools();
    expect(Object.keys(plain)).toEqual(["set_context"]);
    expect(schemaOf(plain.set_context)).toEqual(["label", "content", "action"]);
    expect(plain.set_context?.description).toMatch(/- memory: About memory$/);
    expect(plain.set_context?.description).not.toContain("soul");
    const all = await open({
      blocks: [block("skills", skills({})), block("docs", { get: () => null, search: () => null })]
    }).tools();
    expect(Object.keys(all)).toEqual(["set_context", "load_context", "unload_context", "search_context"]);
    expect(schemaOf(all.set_context)).toEqual(["label", "content", "action", "metadata"]);
    expect(all.load_context?.description).not.toContain("docs");
    expect(all.search_context?.description).not.toContain("skills");
  });

  it("set_context writes and appends, and tells the usage", async () => {
    const memory = memoryBlock("one");
    const tools = await open({
      blocks: [block("memory", memory, 100), block("free", memoryBlock())]
    }).tools();
    expect(await call(tools, "set_context", { label: "memory", content: "two", action: "append" })).toBe(
      "Written to memory. Usage: 3% — 3/100 tokens"
    );
    expect(memory.content).toBe("one\ntwo");
    expect(await call(tools, "set_context", { label: "free", content: "four" })).toBe(
      "Written to free. Usage: 2 tokens"
    );
  });

  it("set_context stores under a key made of the title and refreshes the listing", async () => {
    const provider = skills({});
    const described: unknown[] = [];
    const { set } = provider;
    const blocks = open({
      blocks: [
        block("skills", {
          ...provider,
          set: (...parameters: [string, string, string?]) => {
            described.push(parameters[2]);
            return set?.(...parameters);
          }
        })
      ]
    });
    const tools = await blocks.tools();
    const write = (metadata?: unknown) =>
      call(tools, "set_context", { label: "skills", content: "How to", metadata });
    expect(await write({ title: "My Guide" })).toBe('Indexed "my-guide" in skills');
    expect(await write({ title: "Other", description: "d" })).toBe('Indexed "other" in skills');
    expect(await write()).toMatch(/^Indexed "how-to-\w+" in skills$/);
    expect(described).toEqual(["My Guide", "d", undefined]);
    expect(blocks.getContextBlock("skills")?.content).toContain("- my-guide\n- other");
  });

  it("answer every mistake with text", async () => {
    const broken = {
      get: () => "x",
      load: () => Promise.reject(new Error("no network")),
      search: () => Promise.reject(new Error("no index"))
    };
    const tools = await open({
      blocks: [block("memory", memoryBlock(), 1), block("skills", skills({})), block("broken", broken)]
    }).tools();
    expect(await call(tools, "set_context", { label: "nope", content: "x" })).toMatch(/^Error: .*"nope"/);
    expect(await call(tools, "set_context", { label: "memory", content: "far too long" })).toMatch(
      /^Error: .*exceeds maxTokens/
    );
    expect(await call(tools, "set_context", { label: 7 })).toMatch(/^Error: /);
    expect(await call(tools, "load_context", { label: "broken", key: "k" })).toMatch(/^Error: .*no network/);
    expect(await call(tools, "load_context", { label: "memory", key: "k" })).toMatch(
      /^Error: .*nothing to load/
    );
    expect(await call(tools, "load_context", { label: "skills", key: "k" })).toMatch(/^Not found/);
    expect(await call(tools, "load_context", { label: "skills", key: "x".repeat(5_000) })).toMatch(
      /^Not found/
    );
    expect(await call(tools, "unload_context", { label: "skills", key: "k" })).toContain(
      "not currently loaded"
    );
    expect(await call(tools, "search_context", { label: "broken", query: "q" })).toMatch(
      /^Error: .*no index/
    );
    expect(await call(tools, "search_context", { label: "skills", query: "q" })).toMatch(/^Error: /);
  });

  it("search_context gives what was found, cut to its limit", async () => {
    const tools = await open({
      blocks: [block("docs", searchable({ a: `${"x".repeat(50_000)} word` }))]
    }).tools();
    expect(await call(tools, "search_context", { label: "docs", query: "nothing" })).toBe("No results found");
    const found = String(await call(tools, "search_context", { label: "docs", query: "word" }));
    expect(found.length).toBeLessThan(CONTEXT_LIMITS.searchResultChars + 100);
    expect(found).toContain("[cut: ");
  });
});

describe("§8.8 loaded skills", () => {
  const input = { label: "skills", key: "a" };
  const world = (messages: UIMessage[] = []) => {
    const history = memoryHistory(messages);
    const life = () =>
      open({ history, blocks: [block("skills", skills({ a: "Text of a", b: "Text of b" }))] });
    return { history, life };
  };
  const outputs = (messages: readonly UIMessage[]) =>
    messages.map(({ parts }) => (parts[0] as { output?: unknown }).output);

  it("are tracked when loaded and listed for unloading", async () => {
    const blocks = world().life();
    const tools = await blocks.tools();
    expect(await call(tools, "load_context", input)).toBe("Text of a");
    await call(tools, "load_context", { label: "skills", key: "missing" });
    expect(blocks.getLoadedSkillKeys()).toEqual(new Set(["skills:a"]));
    expect((await blocks.tools()).unload_context?.description).toContain("Loaded now: skills:a");
  });

  it.each([true, false])("§11.13 are known again after a restart (dynamic part: %s)", (dynamic) => {
    const { life } = world([
      toolMessage("load_context", input, "Text of a", { dynamic }),
      toolMessage("load_context", { label: "skills", key: "b" }, "[skill unloaded: b]", { dynamic }),
      toolMessage("load_context", { label: "skills", key: "c" }, "Not found: c", { dynamic }),
      toolMessage("load_context", { label: "skills", key: "d" }, undefined, {
        dynamic,
        state: "output-error"
      }),
      toolMessage("load_context", { label: "gone", key: "e" }, "text", { dynamic }),
      toolMessage("load_context", null, "text", { dynamic }),
      toolMessage("other", input, "text", { dynamic })
    ]);
    expect(life().getLoadedSkillKeys()).toEqual(new Set(["skills:a"]));
  });

  it("are unloaded by marking the latest result, once, and can be loaded again", async () => {
    const { history, life } = world([
      toolMessage("load_context", input, "older"),
      toolMessage("load_context", { label: "skills", key: "b" }, "Text of b"),
      toolMessage("load_context", input, "newer")
    ]);
    const blocks = life();
    const tools = await blocks.tools();
    expect(await call(tools, "unload_context", input)).toBe('Unloaded "a" from skills');
    expect(outputs(history.messages)).toEqual(["older", "Text of b", "[skill unloaded: a]"]);
    expect(blocks.unloadSkill("skills", "a")).toBe(false);
    expect(history.rewritten).toBe(1);
    expect(life().getLoadedSkillKeys()).toEqual(new Set(["skills:b"]));
    await call(tools, "load_context", input);
    expect(blocks.getLoadedSkillKeys()).toEqual(new Set(["skills:b", "skills:a"]));
  });

  it.each(["same life", "after a restart"])(
    "that were loaded and unloaded in one turn leave the history with the next turn (%s)",
    async (when) => {
      const { history, life } = world();
      const blocks = life();
      const tools = await blocks.tools();
      const loaded = await call(tools, "load_context", input);
      const unloaded = await call(tools, "unload_context", input);
      // The turn's message is stored when it ends.
      history.messages.push(
        toolMessage("load_context", input, loaded),
        toolMessage("unload_context", input, unloaded)
      );
      const next = when === "same life" ? blocks : life();
      await next.tools();
      expect(outputs(history.messages)[0]).toBe("[skill unloaded: a]");
      expect(next.getLoadedSkillKeys()).toEqual(new Set());
      await next.tools();
      expect(history.rewritten).toBe(1);
    }
  );

  it("are found when the first skill block comes later, forgotten with it, and reset with the history", async () => {
    const { history, life } = world([toolMessage("load_context", input, "Text of a")]);
    const later = open({ history });
    expect(later.getLoadedSkillKeys()).toEqual(new Set());
    await later.addContext("skills", { provider: skills({ a: "x" }) });
    expect(later.getLoadedSkillKeys()).toEqual(new Set(["skills:a"]));
    later.removeContext("skills");
    await later.addContext("skills", { provider: skills({ a: "x" }) });
    expect(later.getLoadedSkillKeys()).toEqual(new Set());
    expect(history.rewritten).toBe(0);
    const cleared = life();
    expect(cleared.getLoadedSkillKeys()).toEqual(new Set(["skills:a"]));
    history.messages.length = 0;
    cleared.resetLoadedSkills();
    expect(cleared.getLoadedSkillKeys()).toEqual(new Set());
  });
});
