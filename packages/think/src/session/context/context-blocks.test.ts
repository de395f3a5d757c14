import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CONTEXT_LIMITS } from "../../shared/limits";
import type { Clock } from "../../shared/clock";
import {
  memoryBlock,
  memoryHistory,
  open,
  promptStore,
  searchable,
  skills
} from "./context-world.test-support";
import type { AnyContextProvider } from "./provider";

afterEach(() => void vi.restoreAllMocks());

const quiet = () => vi.spyOn(console, "warn").mockImplementation(() => undefined);
const RULE = "═".repeat(46);

describe("§8.5 what a block can do", () => {
  it.each<[string, AnyContextProvider, [boolean, boolean, boolean]]>([
    ["get", { get: () => "x" }, [false, false, false]],
    ["get and set", memoryBlock("x"), [true, false, false]],
    ["get and load", { get: () => "x", load: () => null }, [false, true, false]],
    ["get, load and set", skills({ a: "b" }), [true, true, false]],
    ["get and search", { get: () => "x", search: () => null }, [false, false, true]],
    ["get, search and set", searchable({}), [true, false, true]]
  ])("is seen from the methods %s", async (_, provider, [writable, isSkill, isSearchable]) => {
    const blocks = open({ blocks: [{ label: "it", config: { provider, description: "d", maxTokens: 9 } }] });
    await blocks.load();
    expect(blocks.getContextBlock("it")).toMatchObject({ label: "it", description: "d", maxTokens: 9 });
    expect(blocks.getContextBlock("it")).toMatchObject({ writable, isSkill, isSearchable });
    expect(blocks.getContextBlock("other")).toBeNull();
  });

  it("calls init once, before the first get, also when loads come together", async () => {
    const provider = memoryBlock("x");
    const blocks = open({ blocks: [{ label: "memory", config: { provider } }] });
    await Promise.all([blocks.load(), blocks.load(), blocks.freezeSystemPrompt(), blocks.tools()]);
    await blocks.load();
    expect(provider.calls).toEqual(["init memory", "get"]);
  });
});

describe("§8.5 writing", () => {
  const memory = (maxTokens?: number) => {
    const provider = memoryBlock("one");
    return { provider, blocks: open({ blocks: [{ label: "memory", config: { provider, maxTokens } }] }) };
  };

  it("replaces, and gives the block as it is then", async () => {
    const { blocks, provider } = memory();
    expect(await blocks.replaceContextBlock("memory", "eight ch")).toMatchObject({
      content: "eight ch",
      tokens: 3
    });
    expect(provider.content).toBe("eight ch");
  });

  it.each([
    [null, "two", "two"],
    ["one", "two", "one\ntwo"],
    ["one", "\ntwo", "one\ntwo"]
  ])("appends to %j the text %j", async (before, text, after) => {
    const { blocks, provider } = memory();
    provider.content = before;
    await blocks.appendContextBlock("memory", text);
    expect(provider.content).toBe(after);
  });

  it("loses nothing of appends that come at once", async () => {
    const { blocks, provider } = memory();
    await Promise.all(["a", "b", "c"].map((text) => blocks.appendContextBlock("memory", text)));
    expect(provider.content).toBe("one\na\nb\nc");
  });

  it("keeps a write although a read that began before it ends later", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const provider = { get: () => promise, set: () => undefined };
    const blocks = open({ blocks: [{ label: "memory", config: { provider } }] });
    const loading = blocks.load();
    await blocks.replaceContextBlock("memory", "new");
    resolve("old");
    await loading;
    expect(blocks.getContextBlock("memory")?.content).toBe("new");
  });

  it("refuses what exceeds the budget or the size, and writes nothing", async () => {
    const { blocks, provider } = memory(2);
    await expect(blocks.replaceContextBlock("memory", "far too long")).rejects.toThrow("exceeds maxTokens");
    await expect(blocks.appendContextBlock("memory", "long text")).rejects.toThrow("exceeds maxTokens");
    const large = "x".repeat(CONTEXT_LIMITS.contentChars + 1);
    await expect(memory().blocks.replaceContextBlock("memory", large)).rejects.toThrow("400000 characters");
    expect(provider.content).toBe("one");
    await blocks.replaceContextBlock("memory", "12345678".slice(0, 4));
    expect(provider.content).toBe("1234");
  });

  it("refuses read-only, keyed and unknown blocks by name", async () => {
    const blocks = open({
      blocks: [
        { label: "soul", config: { provider: { get: () => "x" } } },
        { label: "skills", config: { provider: skills({}) } },
        { label: "docs", config: { provider: { get: () => "x", load: () => null } } }
      ]
    });
    await expect(blocks.replaceContextBlock("soul", "x")).rejects.toThrow(/"soul" is readonly/);
    await expect(blocks.appendContextBlock("soul", "x")).rejects.toThrow("readonly");
    await expect(blocks.replaceContextBlock("skills", "x")).rejects.toThrow("keys");
    await expect(blocks.setContextEntry("soul", "k", "x")).rejects.toThrow("no keys");
    await expect(blocks.setContextEntry("docs", "k", "x")).rejects.toThrow("readonly");
    await expect(blocks.setContextEntry("skills", "", "x")).rejects.toThrow("key");
    await expect(blocks.appendContextBlock("nope", "x")).rejects.toThrow(/no context block "nope".*"soul"/);
  });
});

describe("§8.5 blocks that come and go", () => {
  it("change the prompt only with a refresh", async () => {
    const blocks = open({ defaultProvider: () => memoryBlock("kept") });
    expect(await blocks.freezeSystemPrompt()).toBe("");
    expect(await blocks.addContext("notes", { description: "User notes" })).toMatchObject({
      content: "kept"
    });
    expect(await blocks.freezeSystemPrompt()).toBe("");
    expect(await blocks.refreshSystemPrompt()).toContain("NOTES (User notes) [writable]");
    expect([blocks.removeContext("notes"), blocks.removeContext("notes")]).toEqual([true, false]);
    expect(await blocks.freezeSystemPrompt()).toContain("NOTES");
    expect(await blocks.refreshSystemPrompt()).toBe("");
  });

  it("are refused with a label that is taken, even while the first is loading, or that is no heading", async () => {
    const blocks = open({ defaultProvider: () => memoryBlock() });
    const first = blocks.addContext("notes");
    await expect(blocks.addContext("notes")).rejects.toThrow('a context block "notes" already');
    await first;
    for (const label of ["", "  ", "two\nlines", "x".repeat(101)]) {
      await expect(blocks.addContext(label)).rejects.toThrow("label");
    }
    await expect(blocks.addContext("x", { maxTokens: Number.NaN })).rejects.toThrow("maxTokens");
    expect(blocks.getContextBlocks()).toHaveLength(1);
  });

  it("need a provider when the session has no database", async () => {
    await expect(open().addContext("notes")).rejects.toThrow('"notes" needs a provider');
  });

  it("are a hundred at most", async () => {
    const blocks = open({ defaultProvider: () => memoryBlock() });
    for (let index = 0; index < CONTEXT_LIMITS.blocks; index += 1) await blocks.addContext(`b${index}`);
    await expect(blocks.addContext("more")).rejects.toThrow("100 context blocks at most");
  });
});

describe("§8.6 the frozen prompt", () => {
  const twoBlocks = () => ({
    blocks: [
      { label: "soul", config: { provider: { get: () => "Be kind." } } },
      { label: "memory", config: { provider: memoryBlock("a fact"), description: "Facts", maxTokens: 100 } }
    ]
  });
  const expected = [
    `${RULE}\nSOUL [readonly]\n${RULE}\nBe kind.`,
    `${RULE}\nMEMORY (Facts) [3% — 3/100 tokens] [writable]\n${RULE}\na fact`
  ].join("\n\n");

  it("is rendered once and not changed by writes, also across restarts", async () => {
    const store = promptStore();
    const first = open({ ...twoBlocks(), promptStore: store });
    expect(await first.freezeSystemPrompt()).toBe(expected);
    await first.replaceContextBlock("memory", "another fact");
    expect(await first.freezeSystemPrompt()).toBe(expected);
    expect(await open({ ...twoBlocks(), promptStore: store }).freezeSystemPrompt()).toBe(expected);
    expect(store.writes).toBe(1);
    expect(await first.refreshSystemPrompt()).toContain("another fact");
    expect(store.text).toContain("another fact");
  });

  it("is frozen in memory without a store", async () => {
    const blocks = open(twoBlocks());
    expect(await blocks.freezeSystemPrompt()).toBe(expected);
    await blocks.replaceContextBlock("memory", "another fact");
    expect(await blocks.freezeSystemPrompt()).toBe(expected);
  });

  it("trap 39: the empty text is a stored prompt, null is none", async () => {
    expect(await open({ ...twoBlocks(), promptStore: promptStore("") }).freezeSystemPrompt()).toBe("");
    expect(await open({ ...twoBlocks(), promptStore: promptStore(null) }).freezeSystemPrompt()).toBe(
      expected
    );
  });

  it("trap 39: an estimate stores no prompt and uses the frozen one", async () => {
    const store = promptStore();
    const blocks = open({ ...twoBlocks(), promptStore: store });
    expect(await blocks.peekSystemPrompt()).toBe(expected);
    expect(store.writes).toBe(0);
    await blocks.replaceContextBlock("memory", "changed before the freeze");
    const frozen = await blocks.freezeSystemPrompt();
    expect(frozen).toContain("changed before");
    await blocks.replaceContextBlock("memory", "changed after");
    expect(await blocks.peekSystemPrompt()).toBe(frozen);
    expect(await open({ ...twoBlocks(), promptStore: store }).peekSystemPrompt()).toBe(frozen);
    expect(store.writes).toBe(1);
  });

  it("survives a store that fails", async () => {
    const warn = quiet();
    const broken = {
      get: () => Promise.reject(new Error("no disk")),
      set: () => Promise.reject(new Error("no disk"))
    };
    const blocks = open({ ...twoBlocks(), promptStore: broken });
    expect(await blocks.freezeSystemPrompt()).toBe(expected);
    expect(warn.mock.calls.join()).toContain("no disk");
    await blocks.refreshSystemPrompt();
    await blocks.replaceContextBlock("memory", "another fact");
    expect(await blocks.freezeSystemPrompt()).toBe(expected);
  });

  it("is the same bytes whatever order the blocks were loaded in, and after any number of restarts", async () => {
    const block = fc.record({
      label: fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom("a", "Ä", "語", "_", "z") }),
      content: fc.option(fc.string({ unit: "binary", maxLength: 40 })),
      description: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
      maxTokens: fc.option(fc.nat(500), { nil: undefined }),
      delay: fc.nat(5),
      writable: fc.boolean()
    });
    const registrations = fc.uniqueArray(block, { selector: ({ label }) => label, maxLength: 6 });
    const later = async (turns: number) => {
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    };
    await fc.assert(
      fc.asyncProperty(registrations, fc.array(fc.nat(5), { maxLength: 6 }), async (list, delays) => {
        const store = promptStore();
        const life = (shift: readonly number[], stored: boolean) =>
          open({
            ...(stored ? { promptStore: store } : {}),
            blocks: list.map(({ label, content, delay, writable, ...config }, index) => {
              const get = () => later(delay + (shift[index] ?? 0)).then(() => content);
              return {
                label,
                config: { ...config, provider: writable ? { get, set: () => undefined } : { get } }
              };
            })
          });
        const prompt = await life([], true).freezeSystemPrompt();
        expect(await life(delays, false).freezeSystemPrompt()).toBe(prompt);
        expect(await life(delays, true).freezeSystemPrompt()).toBe(prompt);
        expect(await life(delays, true).refreshSystemPrompt()).toBe(prompt);
      })
    );
  });
});

describe("a provider that fails", () => {
  const flaky = () => {
    const provider = {
      broken: true,
      get: () => (provider.broken ? Promise.reject(new Error("no network")) : "here")
    };
    return provider;
  };

  it("leaves its block empty, says which one once, and is tried again without a prompt being kept", async () => {
    const warn = quiet();
    const provider = flaky();
    const store = promptStore();
    const blocks = open({
      promptStore: store,
      blocks: [
        { label: "remote", config: { provider } },
        { label: "soul", config: { provider: { get: () => "Be kind." } } }
      ]
    });
    expect(await blocks.freezeSystemPrompt()).toBe(`${RULE}\nSOUL [readonly]\n${RULE}\nBe kind.`);
    await blocks.freezeSystemPrompt();
    await blocks.tools();
    expect(warn.mock.calls).toHaveLength(1);
    expect(warn.mock.calls.join()).toMatch(/"remote" could not be read: no network/);
    expect(store.writes).toBe(0);
    provider.broken = false;
    expect(await blocks.freezeSystemPrompt()).toContain("here");
    expect(store.writes).toBe(1);
  });

  it("keeps in the prompt what was known before", async () => {
    quiet();
    const provider = flaky();
    provider.broken = false;
    const blocks = open({ blocks: [{ label: "remote", config: { provider } }] });
    await blocks.load();
    provider.broken = true;
    expect(await blocks.refreshSystemPrompt()).toContain("here");
  });

  it("cannot make an append overwrite what it could not read", async () => {
    const written: string[] = [];
    const provider = { ...flaky(), set: (text: string) => void written.push(text) };
    const blocks = open({ blocks: [{ label: "remote", config: { provider } }] });
    await expect(blocks.appendContextBlock("remote", "x")).rejects.toThrow('"remote" could not be read');
    expect(written).toEqual([]);
  });

  it("fails a write with its name, and the next write works", async () => {
    let broken = true;
    const provider = {
      get: () => "old",
      set: () => (broken ? Promise.reject(new Error("quota")) : undefined)
    };
    const blocks = open({ blocks: [{ label: "memory", config: { provider } }] });
    await blocks.load();
    await expect(blocks.replaceContextBlock("memory", "new")).rejects.toThrow(
      '"memory" could not be written: quota'
    );
    expect(blocks.getContextBlock("memory")?.content).toBe("old");
    broken = false;
    expect((await blocks.replaceContextBlock("memory", "new")).content).toBe("new");
  });

  it("may throw at once, give a number, or fail in init", async () => {
    const warn = quiet();
    const wrong = {
      get: (): string => {
        throw new Error("at once");
      }
    };
    const blocks = open({
      blocks: [
        { label: "a", config: { provider: wrong } },
        { label: "b", config: { provider: { get: () => 7 as unknown as string } } },
        {
          label: "c",
          config: { provider: { init: () => Promise.reject(new Error("in init")), get: () => "x" } }
        }
      ]
    });
    expect(await blocks.freezeSystemPrompt()).toBe("");
    expect(warn.mock.calls.join()).toMatch(/at once[\s\S]*not number[\s\S]*in init/);
  });

  it("that hangs is given up in time when there is a clock", async () => {
    quiet();
    const timers: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      setTimer(callback, ms) {
        expect(ms).toBe(CONTEXT_LIMITS.providerMs);
        timers.push(callback);
        return { cancel: () => undefined };
      }
    };
    const hanging = { get: () => new Promise<string>(() => undefined) };
    const blocks = open({ clock, blocks: [{ label: "remote", config: { provider: hanging } }] });
    const prompt = blocks.freezeSystemPrompt();
    await vi.waitFor(() => expect(timers).toHaveLength(1), { timeout: 25_000 });
    timers[0]?.();
    expect(await prompt).toBe("");
  });
});

describe("a history", () => {
  it("is not read for those who have no skills", async () => {
    const history = memoryHistory();
    const blocks = open({ history, blocks: [{ label: "memory", config: { provider: memoryBlock() } }] });
    await blocks.tools();
    expect(blocks.getLoadedSkillKeys()).toEqual(new Set());
    expect(blocks.unloadSkill("memory", "x")).toBe(false);
    expect(history.reads).toBe(0);
  });
});
