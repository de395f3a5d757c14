/** What a turn costs: the bounds of `performance.md`, counted through the public socket. */
import { env, exports } from "cloudflare:workers";
import {
  connectChat,
  countAllRows,
  countRowsOf,
  hang,
  scriptedModel,
  text,
  userMessage,
  type Script
} from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { newLab } from "./recovery-support";
import { standingClock } from "./time-support";
import { useModel } from "./worker/chat-agents";

let counter = 0;

async function newChat(script: Script) {
  const name = `cost-${(counter += 1)}`;
  useModel(name, scriptedModel(script));
  const connect = () => connectChat(exports.default, { agent: "ChatAgent", name });
  return { connect, stub: () => env.ChatAgent.getByName(name), client: await connect() };
}

const words = (count: number) => text(Array.from({ length: count }, () => "word "));

const bytesOf = (frames: readonly unknown[]) => new TextEncoder().encode(JSON.stringify(frames)).byteLength;

describe("rows", () => {
  it("row 1, 2: are written by bytes streamed, not by deltas, and almost none are read", async () => {
    using _time = standingClock();
    const { client, stub } = await newChat(["warm up", words(1_000), words(10_000)]);
    await client.chat("Hi").done;
    const thousand = await countRowsOf(stub(), () => client.chat("1,000").done);
    const tenThousand = await countRowsOf(stub(), () => client.chat("10,000").done);
    expect(thousand.totalWritten).toBeLessThanOrEqual(12);
    expect(tenThousand.totalWritten).toBeLessThanOrEqual(24);
    expect(thousand.totalRead).toBeLessThanOrEqual(10);
    expect(tenThousand.totalRead).toBeLessThanOrEqual(10);
  });

  it("row 1, 2: of a late turn in a long conversation are those of an early one", async () => {
    const { client, stub } = await newChat(Array.from({ length: 30 }, (_, index) => `answer ${index}`));
    const send = async (question: string) =>
      client.chat([...(await client.history()), userMessage(question)]).done;
    for (let turn = 0; turn < 10; turn += 1) await send(`question ${turn}`);
    const early = await countRowsOf(stub(), () => send("early"));
    for (let turn = 0; turn < 10; turn += 1) await send(`more ${turn}`);
    const late = await countRowsOf(stub(), () => send("late"));
    expect(late.totalWritten).toBe(early.totalWritten);
    expect(late.totalRead).toBe(early.totalRead);
  });

  it("row 5: of a new object, beyond the base class, are few", async () => {
    const anchor = (await newChat([])).stub();
    const born = (agent: string) =>
      countAllRows(anchor, async () =>
        (await connectChat(exports.default, { agent, name: crypto.randomUUID() })).close()
      );
    const base = await born("PlainAgent");
    const ours = await born("ChatAgent");
    expect(ours.totalWritten - base.totalWritten).toBeLessThanOrEqual(10);
  });
});

it("row 1, 2: recovery costs a watched turn no row, written or read", async () => {
  using _time = standingClock();
  const cost = async (chatRecovery: boolean) => {
    const { connect, stub } = newLab(["warm up", words(1_000)], { chatRecovery });
    const client = await connect();
    await client.chat("Hi").done;
    return countRowsOf(stub(), () => client.chat("1,000").done);
  };
  const without = await cost(false);
  const withRecovery = await cost(true);
  expect(withRecovery.totalWritten).toBe(without.totalWritten);
  expect(withRecovery.totalRead).toBe(without.totalRead);
});

describe("replay", () => {
  it("row 6: of a live stream of 10,000 chunks takes few frames, rows and bytes", async () => {
    using _time = standingClock();
    const { client, connect, stub } = await newChat([[words(10_000), hang()]]);
    const turn = client.chat("Hi");
    await client.waitFor((frame) => frame.seq === 10_001);
    const late = await connect();
    await late.waitFor((frame) => frame.type === "cf_agent_stream_resuming");
    const cost = await countRowsOf(stub(), async () => {
      await late.resume({ request: false });
      await late.waitFor((frame) => frame.replayComplete === true);
    });
    const frames = late.frames.filter((frame) => frame.id === turn.id);
    expect(frames.length).toBeLessThanOrEqual(20);
    expect(cost.totalRead).toBeLessThanOrEqual(60);
    expect(bytesOf(frames)).toBeLessThanOrEqual(300_000);
    turn.cancel();
    expect((await late.follow(turn.id).done).text).toBe("word ".repeat(10_000));
  });
});

describe("bytes down", () => {
  it("row 7: of a turn do not depend on the history", async () => {
    const { client, stub } = await newChat(["one", "two"]);
    const bytes = async (question: string) => {
      const from = client.frames.length;
      await client.chat(question).done;
      return bytesOf(client.frames.slice(from));
    };
    const early = await bytes("short");
    await stub().addMessages(
      Array.from({ length: 1_000 }, (_, index) => userMessage(`Message ${index}: ${"x".repeat(400)}`))
    );
    await client.waitFor(
      (frame) => frame.type === "cf_agent_chat_messages" && (frame.messages?.length ?? 0) > 1_000
    );
    expect(await bytes("short")).toBeLessThan(early + 500);
  });
});
