import type { UIMessage } from "ai";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { dialogue, loadWorker, onNewObject, user, type Life, fullPath } from "./worker/messages-agents";

beforeAll(loadWorker, 60_000);

const url = (size = 40_000) => `data:image/png;base64,${"A".repeat(size)}`;
const image = (id: string, size?: number): UIMessage => ({
  id,
  role: "user",
  parts: [
    { type: "text", text: "look" },
    { type: "file", mediaType: "image/png", url: url(size) }
  ]
});
const images = (count: number) => Array.from({ length: count }, (_, index) => image(`i${index}`));
const marked = (messages: readonly UIMessage[]) =>
  messages.filter((message) => JSON.stringify(message).includes("[evicted")).map(({ id }) => id);
/** Lets the zero-delay timers of the eviction run, and those they set. */
const settle = ({ clock }: Life) => clock.advance(1);

describe("§6.7 media eviction", () => {
  it("moves media out of messages that have aged, in the background, and keeps the originals as files", () =>
    onNewObject(async ({ wake }) => {
      const life = wake({ mediaEviction: true });
      life.conversation.append([image("i0"), ...dialogue(8)]);
      await settle(life);
      expect(life.conversation.messages[0]?.parts).toEqual([
        { type: "text", text: "look" },
        {
          type: "text",
          text: `[evicted image/png, ${url().length} bytes; preserved at /attachments/evicted/i0-0.png]`
        }
      ]);
      expect(life.files).toEqual(new Map([["/attachments/evicted/i0-0.png", url()]]));
      const bytes = url().length;
      expect(life.events).toEqual([
        { type: "chat:media:evicted", payload: { messages: 1, parts: 1, bytes, externalizedBytes: bytes } }
      ]);
      expect(wake().conversation.messages).toEqual(life.conversation.messages);
    }));

  it("runs after a wake when the conversation is first used, without being asked", () =>
    onNewObject(async ({ wake }) => {
      wake().conversation.append([image("i0"), ...dialogue(8)]);
      const life = wake({ mediaEviction: true });
      expect(life.clock.pending).toBe(0);
      expect(marked(life.conversation.messages)).toEqual([]);
      await settle(life);
      expect(marked(life.conversation.messages)).toEqual(["i0"]);
    }));

  it("protects the newest eight by default and the newest four whatever is asked for", () =>
    onNewObject(async ({ wake }) => {
      const first = wake({ mediaEviction: true });
      first.conversation.append(images(10));
      await settle(first);
      expect(marked(first.conversation.messages)).toEqual(["i0", "i1"]);
      const second = wake({ mediaEviction: { keepRecentMessages: 0 } });
      expect(second.conversation.messages).toHaveLength(10);
      await settle(second);
      expect(marked(second.conversation.messages)).toEqual(["i0", "i1", "i2", "i3", "i4", "i5"]);
    }));

  it("a second pass is an all-zero no-op", () =>
    onNewObject(async ({ wake }) => {
      const { conversation } = wake({ mediaEviction: true });
      conversation.append(images(10));
      expect(await conversation.evictMedia()).toMatchObject({ messages: 2, parts: 2 });
      expect(await conversation.evictMedia()).toEqual({
        messages: 0,
        parts: 0,
        bytes: 0,
        externalizedBytes: 0
      });
    }));

  it("does nothing when switched off, and says so", () =>
    onNewObject(async ({ wake }) => {
      const life = wake({ mediaEviction: false });
      life.conversation.append(images(10));
      await settle(life);
      expect(await life.conversation.evictMedia()).toBeNull();
      expect(marked(life.conversation.messages)).toEqual([]);
    }));

  it("never throws media away for lack of a workspace, unless the agent says that it may", () =>
    onNewObject(async ({ wake }) => {
      const keeping = wake({ mediaEviction: true, write: null });
      keeping.conversation.append(images(10));
      await settle(keeping);
      expect(await keeping.conversation.evictMedia()).toBeNull();
      expect(marked(keeping.conversation.messages)).toEqual([]);
      const dropping = wake({ mediaEviction: { externalizeToWorkspace: false }, write: null });
      expect(dropping.conversation.messages).toHaveLength(10);
      await settle(dropping);
      expect(marked(dropping.conversation.messages)).toEqual(["i0", "i1"]);
      expect(dropping.events.at(-1)?.payload).toMatchObject({ messages: 2, externalizedBytes: 0 });
    }));

  it("drains a backlog pass by pass, each of bounded size", () =>
    onNewObject(async ({ wake }) => {
      const life = wake({ mediaEviction: { maxRowsPerPass: 3 } });
      life.conversation.append(images(15));
      await settle(life);
      expect(marked(life.conversation.messages)).toHaveLength(7);
      expect(life.events.map(({ payload }) => payload)).toEqual([
        expect.objectContaining({ messages: 3 }),
        expect.objectContaining({ messages: 3 }),
        expect.objectContaining({ messages: 1 })
      ]);
    }));

  it("works outside the memory window too, without loading it", () =>
    onNewObject(async ({ wake, rows }) => {
      wake().conversation.append([...images(6), ...dialogue(4)]);
      const life = wake({ mediaEviction: true, hydrationByteBudget: 1 });
      expect(life.conversation.messages).toHaveLength(4);
      await settle(life);
      // Four in memory and the four before them are recent.
      expect(rows("SELECT id FROM assistant_messages WHERE content LIKE '%[evicted%' ORDER BY id")).toEqual([
        { id: "i0" },
        { id: "i1" }
      ]);
      life.conversation.append(dialogue(2, 20, "later"));
      await settle(life);
      expect(marked(fullPath(life.conversation))).toEqual(["i0", "i1", "i2", "i3"]);
      expect(life.conversation.messages).toHaveLength(6);
    }));

  it("keeps a row whose file cannot be written, and tries again after the next change", () =>
    onNewObject(async ({ wake }) => {
      const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      let full = true;
      const write = (path: string) => {
        if (full && path.includes("i0")) throw new Error("disk full");
      };
      const life = wake({ mediaEviction: true, write });
      life.conversation.append(images(10));
      await settle(life);
      expect(marked(life.conversation.messages)).toEqual(["i1"]);
      expect(warn.mock.calls.flat().join()).toContain(
        "message i0 could not be evicted; it is tried again later: disk full"
      );
      expect(life.clock.pending).toBe(0);
      warn.mockRestore();
      full = false;
      life.conversation.append([user("new")]);
      await settle(life);
      expect(marked(life.conversation.messages)).toEqual(["i0", "i1", "i2"]);
    }));

  it("does not overwrite a message that changed while its file was written, nor bring back one that was cleared", () =>
    onNewObject(async ({ wake }) => {
      let during: (() => void) | undefined;
      const life = wake({ mediaEviction: true, write: () => during?.() });
      const { conversation } = life;
      conversation.append([image("i0"), ...dialogue(8)]);
      during = () => {
        during = undefined;
        conversation.update(image("i0", 50_000));
      };
      await settle(life);
      expect(life.files.get("/attachments/evicted/i0-0.png")).toBe(url(50_000));
      expect(JSON.stringify(conversation.messages[0])).toContain(`${url(50_000).length} bytes; preserved`);

      conversation.append([image("i1"), ...dialogue(8, 20, "n")]);
      during = () => conversation.clear();
      await settle(life);
      expect(conversation.messages).toEqual([]);
      expect(wake().conversation.messages).toEqual([]);
    }));

  it("is not undone by a client that uploads its originals", () =>
    onNewObject(async ({ wake, cost }) => {
      const life = wake({ mediaEviction: true });
      const list = [...images(2), ...dialogue(8)];
      life.conversation.append(list);
      await settle(life);
      const again = await cost(() => life.conversation.receive(list));
      expect([again.totalRead, again.totalWritten]).toEqual([0, 0]);
      expect(marked(life.conversation.messages)).toEqual(["i0", "i1"]);
    }));
});

describe("what the eviction costs", () => {
  it("nothing in a turn with nothing to do, large texts included", () =>
    onNewObject(async ({ wake, cost }) => {
      const life = wake({ mediaEviction: true });
      life.conversation.append(dialogue(20, 50_000));
      await settle(life);
      const off = wake({ mediaEviction: false });
      expect(off.conversation.messages).toHaveLength(20);
      const plain = await cost(() => off.conversation.append([user("a")]));
      life.conversation.reload();
      const watched = await cost(async () => {
        life.conversation.append([user("b")]);
        await settle(life);
      });
      expect(watched.totalRead).toBe(plain.totalRead);
      expect(watched.totalWritten).toBe(plain.totalWritten);
    }));

  it("one look at rows outside the window, which the next life need not repeat", () =>
    onNewObject(async ({ wake, cost }) => {
      wake().conversation.append([image("i0"), ...dialogue(600, 1_000)]);
      const pass = async () => {
        const life = wake({ mediaEviction: true, hydrationByteBudget: 20_000 });
        const counts = await cost(async () => {
          expect(life.conversation.windowed).toBe(true);
          await settle(life);
        });
        return { life, counts };
      };
      const first = await pass();
      expect(first.counts.totalRead).toBeGreaterThan(600);
      expect(marked(fullPath(first.life.conversation))).toEqual(["i0"]);
      const turn = await cost(async () => {
        first.life.conversation.append([user("new")]);
        await settle(first.life);
      });
      expect(turn.totalRead).toBeLessThanOrEqual(3);
      const second = await pass();
      expect(second.counts.totalRead).toBeLessThanOrEqual(80);
      expect(second.counts.totalWritten).toBe(0);
    }));
});
