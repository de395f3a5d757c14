/** A child's socket is held by the parent object, and its chat belongs to the child alone (contract §1.1.5, trap 8; edges §17). */
import { env, exports } from "cloudflare:workers";
import { connectChat, hang, runInAgent, scriptedModel, text } from "@cloudflare/think/testing";
import { expect, it } from "vitest";
import { useModel } from "./worker/chat-agents";

let counter = 0;

async function family() {
  const parent = `parent-${(counter += 1)}`;
  const child = `child-${counter}`;
  useModel(parent, scriptedModel([[text("parent speaks"), hang()]]));
  useModel(child, scriptedModel(["child speaks", [text("child again"), hang()]]));
  const connectParent = () => connectChat(exports.default, { agent: "ChatAgent", name: parent });
  const connectChild = () =>
    connectChat(exports.default, {
      agent: "ChatAgent",
      name: parent,
      sub: [{ agent: "ChatAgent", name: child }]
    });
  return { parent, child, connectParent, connectChild };
}

it("gets the child's frames and never the parent's, while the parent streams", async () => {
  const { connectParent, connectChild, parent } = await family();
  const above = await connectParent();
  const running = above.chat("Hi, parent");
  await running.waitForText("parent speaks");

  const below = await connectChild();
  await below.waitFor((frame) => frame.type === "cf_agent_chat_messages");
  expect(below.frames.some((frame) => frame.type === "cf_agent_stream_resuming")).toBe(false);
  expect((await below.chat("Hi, child").done).text).toBe("child speaks");
  expect(await below.resume()).toBeUndefined();
  expect(below.frames.some((frame) => frame.id === running.id)).toBe(false);
  expect(JSON.stringify(above.frames)).not.toContain("child speaks");

  expect((await below.history()).map((message) => message.role)).toEqual(["user", "assistant"]);
  running.cancel();
  await running.done;
  const stored = await runInAgent(env.ChatAgent.getByName(parent), (agent) => agent.getMessages());
  expect(JSON.stringify(stored)).not.toContain("child");
});

it("resumes the child's stream after a reconnect", async () => {
  const { connectChild } = await family();
  const first = await connectChild();
  await first.chat("one").done;
  const turn = first.chat("two");
  await turn.waitForText("child again");
  await first.close();
  const second = await connectChild();
  const resumed = await second.resume();
  await resumed?.waitForText("child again");
  resumed?.cancel();
  expect((await resumed?.done)?.frames.at(-1)).toMatchObject({ done: true, outcome: "aborted" });
});
