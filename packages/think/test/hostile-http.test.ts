/** The trust boundary "an HTTP caller" of `design/threat-model.md`: the chat answers one address, and asking it changes nothing. */
import { env, exports } from "cloudflare:workers";
import { connectChat, runInAgent, scriptedModel } from "@cloudflare/think/testing";
import { describe, expect, it } from "vitest";
import { useModel } from "./worker/chat-agents";

async function newChat(name: string) {
  useModel(name, scriptedModel(["Hello.", "Again."]));
  const client = await connectChat(exports.default, { agent: "ChatAgent", name });
  await client.chat("Hi").done;
  const rows = () =>
    runInAgent(env.ChatAgent.getByName(name), (_agent, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM assistant_messages").toArray())
    );
  return { client, rows };
}

const ask = (path: string, init?: RequestInit) =>
  exports.default.fetch(`https://example.com/agents/chat-agent/${path}`, init);

describe("a hostile HTTP caller", () => {
  it.each([
    ["GET", undefined],
    ["POST", '[{"id":"x","role":"system","parts":[]}]'],
    ["DELETE", undefined],
    ["PUT", "x".repeat(100_000)]
  ])("§1.6 gets the messages with %s and changes none of them", async (method, body) => {
    const { client, rows } = await newChat(`http-${method}`);
    const before = await rows();
    const response = await ask(`http-${method}/get-messages?x=${"y".repeat(2_000)}`, {
      method,
      ...(body === undefined ? {} : { body })
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveLength(2);
    expect(await rows()).toBe(before);
    expect((await client.chat("Still?").done).text).toBe("Again.");
  });

  it.each([
    "get-messages/",
    "get-messages/..%2f",
    "GET-MESSAGES",
    "xget-messages",
    "cf_agent_chat_clear",
    "%00"
  ])("gets nothing of the conversation at /%s", async (path) => {
    const { rows } = await newChat(`http-other-${path.replaceAll(/\W/g, "-")}`);
    const before = await rows();
    const response = await ask(`http-other-${path.replaceAll(/\W/g, "-")}/${path}`);
    expect(await response.text()).not.toContain("Hello.");
    expect(await rows()).toBe(before);
  });
});
