/**
 * What every storage of a session must do, as tests: `describeSessionProvider` registers them for one storage. Optional methods are tested
 * where they are. Contract: durability §8.3, §8.4, §8.10, §8.13, §11.9, §11.10 and trap 38.
 */
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import type { SessionProvider } from "@cloudflare/think/session";
import { answer, dialogue, ids, user } from "./worker/messages-agents";

/** Gives `work` a way to open one new, empty storage; each opening is a new life on the same rows. */
export type WithStorage = (work: (open: () => SessionProvider) => void | Promise<void>) => Promise<void>;

export function describeSessionProvider(name: string, withStorage: WithStorage): void {
  describe(`the session provider: ${name}`, () => {
    appends(withStorage);
    changes(withStorage);
    reads(withStorage);
    overlays(withStorage);
    optional(withStorage);
  });
}

/** q1 – a1 – q2 – a2, and a second answer b2 to q2, which is the leaf. */
function branched(provider: SessionProvider): SessionProvider {
  for (const message of [user("q1"), answer("a1"), user("q2"), answer("a2")]) provider.appendMessage(message);
  provider.appendMessage(answer("b2"), "q2");
  return provider;
}

function appends(withStorage: WithStorage): void {
  it("§8.3 without a parent a message goes below the latest leaf", () =>
    withStorage((open) => {
      const provider = open();
      for (const message of dialogue(3)) expect(provider.appendMessage(message)).not.toBe(false);
      expect(provider.getHistory()).toEqual(dialogue(3));
      expect(open().getHistory()).toEqual(dialogue(3));
    }));

  it("trap 38 null makes a new root, and so does a parent that is not there", () =>
    withStorage((open) => {
      const provider = open();
      provider.appendMessage(user("a"));
      provider.appendMessage(user("b"), null);
      expect(ids(provider.getHistory())).toEqual(["b"]);
      provider.appendMessage(answer("c"));
      expect(ids(provider.getHistory())).toEqual(["b", "c"]);
      provider.appendMessage(user("d"), "nobody");
      expect(ids(provider.getHistory())).toEqual(["d"]);
      expect(ids(provider.getHistory("a"))).toEqual(["a"]);
      expect(ids(open().getHistory("c"))).toEqual(["b", "c"]);
    }));

  it("§8.3 a parent inside the path makes a branch, and the new message is the leaf", () =>
    withStorage((open) => {
      const provider = branched(open());
      expect(ids(provider.getHistory())).toEqual(["q1", "a1", "q2", "b2"]);
      expect(ids(provider.getHistory("a2"))).toEqual(["q1", "a1", "q2", "a2"]);
      provider.appendMessage(user("q3"));
      expect(ids(open().getHistory())).toEqual(["q1", "a1", "q2", "b2", "q3"]);
    }));

  it("trap 38 a known id keeps its first content, and moves nothing", () =>
    withStorage((open) => {
      const provider = branched(open());
      expect(provider.appendMessage(answer("a1", "other"), null)).toBe(false);
      expect(provider.appendMessage(answer("a2", "other"))).toBe(false);
      for (const one of [provider, open()]) {
        expect(one.getMessage("a1")).toEqual(answer("a1"));
        expect(one.getMessage("a2")).toEqual(answer("a2"));
        expect(one.getLatestLeaf()).toEqual(answer("b2"));
        expect(one.getPathLength()).toBe(4);
      }
    }));

  it("stores several as a chain, and counts those that are new", () =>
    withStorage((open) => {
      const provider = open();
      if (!provider.appendMessages) return;
      expect(provider.appendMessages(dialogue(3))).toBe(3);
      expect(provider.appendMessages([...dialogue(3), user("n")])).toBe(1);
      expect(provider.appendMessages([user("x"), answer("y")], "m0")).toBe(2);
      expect(ids(provider.getHistory())).toEqual(["m0", "x", "y"]);
      expect(ids(open().getHistory("n"))).toEqual(["m0", "m1", "m2", "n"]);
    }));
}

function changes(withStorage: WithStorage): void {
  it("§8.3 an update replaces content in place; trap 38 one of an unknown id does nothing", () =>
    withStorage((open) => {
      const provider = branched(open());
      provider.updateMessage(answer("a1", "better"));
      provider.updateMessage(answer("a2", "off the path"));
      provider.updateMessage(answer("nobody"));
      for (const one of [provider, open()]) {
        expect(one.getHistory()[1]).toEqual(answer("a1", "better"));
        expect(one.getMessage("a2")).toEqual(answer("a2", "off the path"));
        expect(one.getMessage("nobody")).toBeNull();
        expect(one.getPathLength()).toBe(4);
      }
    }));

  it("deletion splices: what followed a message follows what it followed", () =>
    withStorage((open) => {
      const provider = branched(open());
      provider.deleteMessages(["q2", "nobody", "q1"]);
      for (const one of [provider, open()]) {
        expect(ids(one.getHistory())).toEqual(["a1", "b2"]);
        expect(ids(one.getHistory("a2"))).toEqual(["a1", "a2"]);
        expect(ids(one.getBranches("a1")).toSorted()).toEqual(["a2", "b2"]);
        expect(one.getMessage("q2")).toBeNull();
      }
    }));

  it("deleting the leaf ends the path before it; deleting all leaves nothing", () =>
    withStorage((open) => {
      const provider = branched(open());
      provider.deleteMessages(["b2"]);
      expect(open().getLatestLeaf()).toEqual(user("q2"));
      provider.deleteMessages(["a2", "q2", "a1", "q1"]);
      expect(provider.getLatestLeaf()).toBeNull();
      expect(open().getHistory()).toEqual([]);
      provider.appendMessage(user("q1", "again"));
      expect(open().getHistory()).toEqual([user("q1", "again")]);
    }));

  it("§8.3 clear forgets messages, branches and summaries", () =>
    withStorage((open) => {
      const provider = branched(open());
      provider.addCompaction("said before", "q1", "a1");
      provider.clearMessages();
      for (const one of [provider, open()]) {
        expect(one.getHistory()).toEqual([]);
        expect(one.getCompactions()).toEqual([]);
        expect(one.getBranches("q2")).toEqual([]);
        expect(one.getMessage("a2")).toBeNull();
      }
      provider.appendMessage(user("q1", "again"));
      expect(open().getHistory()).toEqual([user("q1", "again")]);
    }));
}

function reads(withStorage: WithStorage): void {
  it("an empty session has nothing, and says so", () =>
    withStorage((open) => {
      const provider = open();
      expect(provider.getHistory()).toEqual([]);
      expect(provider.getLatestLeaf()).toBeNull();
      expect(provider.getPathLength()).toBe(0);
      expect(provider.getMessage("m0")).toBeNull();
      expect(provider.getBranches("m0")).toEqual([]);
      expect(provider.getCompactions()).toEqual([]);
      provider.deleteMessages(["m0"]);
      provider.clearMessages();
    }));

  it("§8.4 an unknown leaf has no path, and children come oldest first", () =>
    withStorage((open) => {
      const provider = branched(open());
      provider.appendMessage(answer("a0"), "q2");
      expect(provider.getHistory("nobody")).toEqual([]);
      expect(provider.getPathLength("nobody")).toBe(0);
      expect(provider.getPathLength("a1")).toBe(2);
      expect(ids(provider.getBranches("q2"))).toEqual(["a2", "b2", "a0"]);
      expect(ids(open().getBranches("q1"))).toEqual(["a1"]);
      expect(provider.getBranches("a0")).toEqual([]);
    }));

  it.each([50, 51, 120])("trap 38 %i messages come back complete and in order", (count) =>
    withStorage((open) => {
      const provider = open();
      for (const message of dialogue(count)) provider.appendMessage(message);
      expect(open().getHistory()).toEqual(dialogue(count));
      expect(open().getPathLength()).toBe(count);
    })
  );
}

function overlays(withStorage: WithStorage): void {
  const seen = (messages: readonly UIMessage[]) =>
    messages.map(({ id, parts }) =>
      id.startsWith("compaction_") && parts[0]?.type === "text" ? parts[0].text : id
    );

  it("§8.10 a summary stands for its range, and the messages stay stored", () =>
    withStorage((open) => {
      const provider = open();
      for (const message of dialogue(6)) provider.appendMessage(message);
      const { id } = provider.addCompaction("the middle", "m1", "m3");
      for (const one of [provider, open()]) {
        expect(seen(one.getHistory())).toEqual(["m0", "the middle", "m4", "m5"]);
        expect(one.getHistory()[1]).toMatchObject({ id: `compaction_${id}`, role: "assistant" });
        expect(one.getPathLength()).toBe(6);
        expect(one.getMessage("m2")).toEqual(dialogue(6)[2]);
        expect(one.getCompactions()).toMatchObject([{ id, fromMessageId: "m1", toMessageId: "m3" }]);
      }
      provider.appendMessage(user("next"));
      expect(seen(open().getHistory())).toEqual(["m0", "the middle", "m4", "m5", "next"]);
    }));

  it("§11.9 on a branch where the newest summary does not end, an older one that does is used", () =>
    withStorage((open) => {
      const provider = branched(open());
      provider.addCompaction("older", "q1", "a1");
      provider.addCompaction("newer", "q1", "b2");
      expect(seen(open().getHistory())).toEqual(["newer"]);
      expect(seen(open().getHistory("a2"))).toEqual(["older", "q2", "a2"]);
    }));

  it("a summary that is deleted shows its messages again", () =>
    withStorage((open) => {
      const provider = branched(open());
      if (!provider.deleteCompaction) return;
      const { id } = provider.addCompaction("gone soon", "q1", "a1");
      provider.deleteCompaction(id);
      expect(seen(provider.getHistory())).toEqual(["q1", "a1", "q2", "b2"]);
      expect(open().getCompactions()).toEqual([]);
    }));
}

function optional(withStorage: WithStorage): void {
  const bytes = (message: UIMessage) => new TextEncoder().encode(JSON.stringify(message)).byteLength;

  it("§8.4 the newest messages are those that fit, never fewer than asked for", () =>
    withStorage((open) => {
      const provider = open();
      if (!provider.getRecentHistory) return;
      expect(provider.getRecentHistory(100, 1)).toEqual({
        messages: [],
        truncated: false,
        totalContentBytes: 0
      });
      const messages = [...dialogue(3), user("m3", "ü".repeat(1_000))];
      for (const message of messages) provider.appendMessage(message);
      const total = messages.reduce((sum, message) => sum + bytes(message), 0);
      const last = bytes(messages[3]!);
      const recent = (maxBytes: number, minRecent: number) => {
        const result = open().getRecentHistory?.(maxBytes, minRecent);
        expect(result?.totalContentBytes).toBe(total);
        return [ids(result?.messages ?? []), result?.truncated];
      };
      expect(recent(total, 1)).toEqual([["m0", "m1", "m2", "m3"], false]);
      expect(recent(total - 1, 1)).toEqual([["m1", "m2", "m3"], true]);
      expect(recent(last, 1)).toEqual([["m3"], true]);
      expect(recent(10, 1)).toEqual([["m3"], true]);
      expect(recent(10, 2)).toEqual([["m2", "m3"], true]);
      expect(recent(10, 9)).toEqual([["m0", "m1", "m2", "m3"], false]);
      expect(recent(0, 0)).toEqual([[], true]);
    }));

  it("§8.4 a summary that begins outside of the newest messages does not apply to them", () =>
    withStorage((open) => {
      const provider = open();
      if (!provider.getRecentHistory) return;
      for (const message of dialogue(6)) provider.appendMessage(message);
      provider.addCompaction("early", "m1", "m4");
      expect(ids(provider.getRecentHistory(0, 3).messages)).toEqual(["m3", "m4", "m5"]);
      expect(provider.getRecentHistory(0, 5).messages).toHaveLength(2);
    }));

  it("§8.4 sizes are those of the stored messages of the path, oldest first", () =>
    withStorage((open) => {
      const provider = branched(open());
      if (!provider.getHistoryRowStats) return;
      const path = [user("q1"), answer("a1"), user("q2"), answer("b2")];
      expect(open().getHistoryRowStats?.()).toEqual(
        path.map((message) => ({ id: message.id, role: message.role, bytes: bytes(message) }))
      );
    }));

  it("§8.13 a search finds messages with every word, of all branches, as they are now", () =>
    withStorage((open) => {
      const provider = open();
      if (!provider.searchMessages) return;
      const found = (query: string, limit = 20) =>
        (open().searchMessages?.(query, limit) ?? []).map(({ id }) => id).toSorted();
      provider.appendMessage(user("a", "red apples and green pears"));
      expect(found("apples")).toEqual(["a"]);
      provider.appendMessage(answer("b", "Green apples are sour"));
      provider.appendMessage(answer("c", "pears"), "a");
      expect(found("green apples")).toEqual(["a", "b"]);
      expect(found("pears")).toEqual(["a", "c"]);
      expect(found("pears", 1)).toHaveLength(1);
      provider.updateMessage(answer("b", "plums"));
      expect(found("apples")).toEqual(["a"]);
      provider.updateMessage(answer("nobody", "plums"));
      expect(found("plums")).toEqual(["b"]);
      provider.deleteMessages(["a"]);
      expect(found("apples")).toEqual([]);
      provider.clearMessages();
      expect(found("plums")).toEqual([]);
    }));
}
