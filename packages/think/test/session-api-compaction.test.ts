/** Compaction and token estimates through `Session`: what an author and a client see of them. The rules have unit tests of their own. */
import {
  createCompactFunction,
  isCompactionMessage,
  Session,
  type CompactFunction,
  type SessionHost
} from "@cloudflare/think/session";
import type { UIMessage } from "ai";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { answer, dialogue, ids, loadWorker, user } from "./worker/messages-agents";
import { onContextAgent } from "./worker/session-context-agents";

beforeAll(loadWorker, 60_000);

type Frame = { readonly type: string; readonly phase?: string; readonly error?: string };

/** A session whose frames are seen. */
function onSession(
  work: (desk: {
    open(): Session;
    readonly frames: readonly Frame[];
    rows(statement: string): Record<string, unknown>[];
  }) => Promise<void>
): Promise<void> {
  return onContextAgent(({ tag, rows }) => {
    const frames: Frame[] = [];
    const host: SessionHost = { sql: tag.sql, broadcast: (frame) => void frames.push(JSON.parse(frame)) };
    return work({ frames, rows, open: () => Session.create(host) });
  });
}

const said = (message: UIMessage) => (message.parts[0]?.type === "text" ? message.parts[0].text : "");

const range =
  (fromMessageId: string, toMessageId: string, summary = "summary"): CompactFunction =>
  () => ({ fromMessageId, toMessageId, summary });

const phases = (frames: readonly Frame[]) => frames.map(({ phase, error }) => phase ?? `error: ${error}`);

describe("§8.10 compact()", () => {
  it("rejects without a function", () =>
    onSession(async ({ open }) => {
      expect(open().canCompact).toBe(false);
      await expect(open().compact()).rejects.toMatchObject({ code: "compaction-missing" });
    }));

  it("§11.8 that fails says so, returns null, and clients are idle again", () =>
    onSession(async ({ open, frames }) => {
      const errors: unknown[] = [];
      const session = open()
        .onCompaction(() => Promise.reject(new Error("model is down")))
        .onCompactionError((error) => void errors.push(error));
      await session.appendMessages(dialogue(6));
      expect(await session.compact()).toBeNull();
      expect(phases(frames.slice(1))).toEqual(["compacting", "error: model is down", "idle"]);
      expect(errors).toHaveLength(1);
      expect(session.getHistory()).toEqual(dialogue(6));
    }));

  it.each<readonly [string, CompactFunction]>([
    ["nothing", () => null],
    ["an end that is not there", range("m0", "nobody")],
    ["an empty summary", range("m0", "m2", "  ")],
    ["a range that ends before it begins", range("m3", "m1")],
    ["something else", () => ({ from: 1 }) as never]
  ])("stores nothing when the function returns %s", (_name, compactFunction) =>
    onSession(async ({ open }) => {
      const session = open().onCompaction(compactFunction);
      await session.appendMessages(dialogue(6));
      expect(await session.compact()).toBeNull();
      expect(session.getCompactions()).toEqual([]);
      expect(open().getHistory()).toEqual(dialogue(6));
    })
  );

  it("trap 39 the second one begins where the first began, supersedes it and names stored messages only", () =>
    onSession(async ({ open }) => {
      const seen: string[][] = [];
      const session = open().onCompaction((messages) => {
        seen.push(ids(messages));
        const last = messages.at(-2)!;
        return { fromMessageId: messages[1]!.id, toMessageId: last.id, summary: `summary ${seen.length}` };
      });
      await session.appendMessages(dialogue(6));
      expect(await session.compact()).toMatchObject({ fromMessageId: "m1", toMessageId: "m4" });
      await session.appendMessages(dialogue(4, 20, "n"));
      expect(await session.compact()).toEqual({
        ...{ fromMessageId: "m1", toMessageId: "n2", summary: "summary 2" }
      });
      expect(seen[1]?.[1]).toMatch(/^compaction_/);
      for (const one of [session, open()]) {
        expect(one.getHistory().map(said).slice(1, 2)).toEqual(["summary 2"]);
        expect(ids(one.getHistory()).filter((id) => !id.startsWith("compaction_"))).toEqual(["m0", "n3"]);
        for (const { fromMessageId, toMessageId } of one.getCompactions())
          expect([fromMessageId, toMessageId].some((id) => id.startsWith("compaction_"))).toBe(false);
      }
    }));

  it("is undone by deleting it: the messages show again, those of an older one behind it first", () =>
    onSession(async ({ open }) => {
      const session = open().onCompaction(range("m1", "m3"));
      await session.appendMessages(dialogue(6));
      await session.compact();
      const summary = session.getHistory().find(isCompactionMessage);
      expect(await session.deleteCompaction(summary!.id)).toBe(true);
      expect(await session.deleteCompaction(summary!.id)).toBe(false);
      expect(open().getHistory()).toEqual(dialogue(6));
    }));

  it("deleting the ends of a summarised range moves them, and the summary stays", () =>
    onSession(async ({ open }) => {
      const session = open().onCompaction(range("m1", "m4"));
      await session.appendMessages(dialogue(6));
      await session.compact();
      await session.deleteMessages(["m1", "m4"]);
      expect(session.getCompactions()).toMatchObject([{ fromMessageId: "m2", toMessageId: "m3" }]);
      expect(open().getHistory().map(said)).toEqual([
        said(dialogue(6)[0]!),
        "summary",
        said(dialogue(6)[5]!)
      ]);
    }));
});

describe("§8.10 compactAfter()", () => {
  it("compacts after an append that passes the threshold, and only then", () =>
    onSession(async ({ open, frames }) => {
      const prompts: string[] = [];
      const summarize = (prompt: string) => {
        prompts.push(prompt);
        return "what was said";
      };
      const session = open()
        .onCompaction(createCompactFunction({ summarize, protectHead: 1, tailTokenBudget: 300 }))
        .compactAfter(1_000);
      await session.appendMessages(dialogue(8, 400));
      expect(prompts).toEqual([]);
      await session.appendMessages(dialogue(4, 400, "n"));
      expect(prompts).toHaveLength(1);
      expect(phases(frames)).toEqual(["idle", "compacting", "idle"]);
      expect(frames.at(-1)).toMatchObject({ compacted: { tokensBefore: expect.any(Number) } });
      expect(session.getHistory().map(said)[1]).toBe("what was said");
      await session.appendMessages(dialogue(12));
      expect(prompts).toHaveLength(1);
    }));

  it("trap 39 a failing function and a failing handler fail no append", () =>
    onSession(async ({ open, frames }) => {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const session = open()
        .onCompaction(() => {
          throw new Error("no model");
        })
        .onCompactionError(() => {
          throw new Error("no handler either");
        })
        .compactAfter(1);
      await session.appendMessage(user("a"));
      await session.appendMessage(answer("b"));
      expect(open().getHistory()).toHaveLength(2);
      expect(phases(frames).filter((phase) => phase.startsWith("error"))).toHaveLength(2);
      expect(frames.at(-1)).toMatchObject({ phase: "idle" });
      warn.mockRestore();
    }));

  it("that finds nothing to replace warns once, until one succeeds", () =>
    onSession(async ({ open }) => {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      let next: CompactFunction = () => null;
      const session = open()
        .onCompaction((messages, context) => next(messages, context))
        .compactAfter(1);
      await session.appendMessage(user("m0"));
      await session.appendMessage(answer("m1"));
      expect(warn).toHaveBeenCalledTimes(1);
      next = range("m0", "m1");
      await session.appendMessage(user("m2"));
      expect(warn).toHaveBeenCalledTimes(1);
      next = () => null;
      await session.appendMessage(user("m3"));
      expect(warn).toHaveBeenCalledTimes(2);
      warn.mockRestore();
    }));
});

describe("§8.10 the estimate", () => {
  it("trap 39 stores no prompt, and counts with the frozen one", () =>
    onSession(async ({ open, rows }) => {
      let soul = "short";
      const make = () =>
        open()
          .withContext("soul", { provider: { get: () => soul } })
          .withCachedPrompt();
      const session = make();
      const first = await session.estimateTokens();
      expect(rows("SELECT name FROM sqlite_master WHERE name = 'cf_agents_context_blocks'")).toEqual([]);
      await session.freezeSystemPrompt();
      soul = "long ".repeat(1_000);
      expect(await make().estimateTokens()).toBe(first);
      await session.refreshSystemPrompt();
      expect(await make().estimateTokens()).toBeGreaterThan(first + 1_000);
    }));

  it("trap 39 an empty stored prompt is a prompt, null is none", () =>
    onSession(async ({ open }) => {
      const withStored = (stored: string | null) =>
        open()
          .withContext("soul", { provider: { get: () => "You are kind." } })
          .withCachedPrompt({ get: () => stored, set: () => undefined })
          .freezeSystemPrompt();
      expect(await withStored("")).toBe("");
      expect(await withStored(null)).toContain("You are kind.");
    }));

  it.each([
    [Number.NaN, 0],
    [-5, 0],
    [Number.POSITIVE_INFINITY, 0],
    [2.1, 3]
  ])("trap 39 a counter that returns %d counts %d", (returned, counted) =>
    onSession(async ({ open, frames }) => {
      const session = open()
        .onCompaction(() => null)
        .compactAfter(10, { tokenCounter: () => returned });
      await session.appendMessage(user("a"));
      expect(await session.estimateTokens()).toBe(counted);
      expect(frames).toMatchObject([{ phase: "idle", tokenEstimate: counted }]);
    })
  );

  it("a counter sees messages, the prompt and the loaded blocks", () =>
    onSession(async ({ open }) => {
      const seen: unknown[] = [];
      const session = open()
        .withContext("soul", { provider: { get: () => "You are kind." } })
        .onCompaction(() => null)
        .compactAfter(10, {
          tokenCounter: ({ messages, systemPrompt, contextBlocks }) => {
            seen.push(ids(messages), systemPrompt.includes("kind"), contextBlocks[0]?.content);
            return 1;
          }
        });
      await session.appendMessage(user("a"));
      expect(seen).toEqual([["a"], true, "You are kind."]);
    }));
});
