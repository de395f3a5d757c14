import { env, exports } from "cloudflare:workers";
import type { UIMessage } from "ai";
import {
  connectChat,
  countRowsOf,
  evict,
  runInAgent,
  scriptedModel,
  text,
  toolCall,
  userMessage,
  type Script
} from "@cloudflare/think/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { useModel } from "./worker/chat-agents";
import { loadWorker } from "./worker/messages-agents";

beforeAll(loadWorker, 60_000);

let counter = 0;

async function newChat(script: Script) {
  const name = `messages-socket-${(counter += 1)}`;
  useModel(name, scriptedModel(script));
  const stub = () => env.ChatAgent.getByName(name);
  const rows = () =>
    runInAgent(stub(), (_agent, { storage }) =>
      storage.sql
        .exec<{ id: string; parent_id: string | null }>("SELECT id, parent_id FROM assistant_messages")
        .toArray()
    );
  const messages = () => runInAgent(stub(), (agent) => structuredClone([...agent.messages]));
  return { stub, rows, messages, client: await connectChat(exports.default, { agent: "ChatAgent", name }) };
}

describe("messages over the WebSocket", () => {
  it("§17.17 a stale optimistic answer costs neither the server's id nor its output nor its text", async () => {
    const { client, messages, rows } = await newChat([
      toolCall("add", { a: 1, b: 2 }, { id: "call-1" }),
      "It is 3.",
      "And?"
    ]);
    const question = userMessage("1 + 2?", "question");
    await client.chat([question]).done;
    const [, stored] = await messages();
    const optimistic = {
      id: "optimistic",
      role: "assistant",
      parts: [
        { type: "step-start" },
        { type: "tool-add", toolCallId: "call-1", state: "input-available", input: { a: 1, b: 2 } }
      ]
    } as UIMessage;
    await client.chat([question, optimistic, userMessage("More", "more")]).done;
    const after = await messages();
    expect(after).toHaveLength(4);
    expect(after[1]).toMatchObject({ id: stored?.id });
    expect(JSON.stringify(after[1])).toContain('"output":{"sum":3}');
    expect(JSON.stringify(after[1])).toContain("It is 3.");
    expect(await rows()).toHaveLength(4);
    expect(JSON.stringify(await rows())).not.toContain("optimistic");
  });

  it("§17.17 with equal ids a stale tool state does not overwrite the stored output", async () => {
    const { client, messages } = await newChat([
      toolCall("add", { a: 1, b: 2 }, { id: "call-1" }),
      "It is 3.",
      "Yes."
    ]);
    await client.chat([userMessage("1 + 2?", "question")]).done;
    const before = await messages();
    const stale = before.map((message): UIMessage => {
      const parts = message.parts.map((part) => {
        if (part.type !== "tool-add" || !("output" in part)) return part;
        const { output: _output, ...rest } = part;
        return { ...rest, state: "input-available" };
      });
      return { ...message, parts: parts as UIMessage["parts"] };
    });
    await client.chat([...stale, userMessage("Sure?")]).done;
    expect((await messages()).slice(0, 2)).toEqual(before);
  });

  it("§17.34 each regeneration is a sibling; history shows the newest, earlier turns stay", async () => {
    const { client, messages, rows } = await newChat(["one", "first", "second", "third"]);
    const opening = userMessage("Hi", "opening");
    await client.chat([opening]).done;
    const before = await messages();
    const question = userMessage("Again", "question");
    await client.chat([...before, question]).done;
    const seen = new Set<string | undefined>([(await messages()).at(-1)?.id]);
    for (const expected of ["second", "third"]) {
      await client.chat([...before, question], { trigger: "regenerate-message" }).done;
      const now = await messages();
      expect(now.slice(0, 3)).toEqual([...before, question]);
      expect(now).toHaveLength(4);
      expect(JSON.stringify(now[3])).toContain(expected);
      seen.add(now[3]?.id);
    }
    expect(seen.size).toBe(3);
    expect((await rows()).filter((row) => row.parent_id === "question")).toHaveLength(3);
  });

  it("§6.3 a message that cannot be stored is refused with limit and remedy, and nothing of its request is kept", async () => {
    const { client, messages } = await newChat(["fine"]);
    const file = {
      type: "file",
      mediaType: "image/png",
      url: `data:image/png;base64,${"A".repeat(2_000_000)}`
    } as const;
    const { error } = await client.chat([
      userMessage("before", "before"),
      { id: "big", role: "user", parts: [file] }
    ]).done;
    expect(error).toMatch(/at most 1800000 can be stored in a row. Send large files by reference/);
    expect(await messages()).toEqual([]);
    expect((await client.chat("Hi").done).text).toBe("fine");
  });

  it("§6.3 an answer larger than a row is stored cut, and the conversation goes on", async () => {
    const { client, stub, messages } = await newChat([
      text(Array.from({ length: 20 }, () => "x".repeat(100_000))),
      "next"
    ]);
    await client.chat("Write a lot").done;
    const stored = (await messages()).at(-1);
    expect(JSON.stringify(stored)).toContain("[Text truncated: 2000000 chars");
    expect((await client.chat("Go on").done).text).toBe("next");
    await evict(stub());
    expect(await messages()).toHaveLength(4);
  });

  it("a turn of a long conversation costs what the first did, whole list uploaded", async () => {
    const { client, stub } = await newChat(["warm", "early", "late"]);
    await client.chat([userMessage("Hi")]).done;
    const send = async (question: string) =>
      client.chat([...(await client.history()), userMessage(question)]).done;
    const early = await countRowsOf(stub(), () => send("early"));
    await runInAgent(stub(), (agent) =>
      agent.addMessages(Array.from({ length: 300 }, (_, index) => userMessage(`${index}`)))
    );
    const late = await countRowsOf(stub(), () => send("late"));
    expect(late.totalWritten).toBe(early.totalWritten);
    expect(late.totalRead).toBe(early.totalRead);
    expect(late.totalWritten).toBeLessThanOrEqual(8);
    expect(late.totalRead).toBeLessThanOrEqual(10);
  });
});
