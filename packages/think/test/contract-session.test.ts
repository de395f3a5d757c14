/** Contract of turns §6.5, §9.1.4, §11, §13 and §1.3, where a turn meets the Session, start-up and the base class. */
import { env, exports } from "cloudflare:workers";
import * as api from "@cloudflare/think";
import { connectChat, evict, gate, runInAgent, text, userMessage } from "@cloudflare/think/testing";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { newAgent, texts } from "./contract-api-support";
import type { ContractApiAgent } from "./worker/contract-api-agents";

const answer = (words: string, id: string): UIMessage => ({
  ...userMessage(words, id),
  role: "assistant"
});

describe("§6.5 what is done through the Session shows in the live list", () => {
  it("append, duplicate, branch, update, delete and clear, in memory and in storage alike (trap 16)", async () => {
    const { stub } = await newAgent([]);
    const seen = await runInAgent(stub(), async (agent: ContractApiAgent) => {
      const { session } = agent;
      const steps: string[][] = [];
      const look = () => {
        expect(texts(agent.messages)).toEqual(texts(session.getHistory()));
        steps.push(texts(agent.messages));
      };
      await session.appendMessage(userMessage("one", "u1"));
      await session.appendMessage(answer("two", "a1"));
      look();
      await session.appendMessage(userMessage("other words", "u1"));
      look();
      await session.appendMessage(answer("instead", "a2"), "u1");
      look();
      await session.updateMessage(userMessage("one, better", "u1"));
      await session.updateMessage(userMessage("nobody", "unknown"));
      look();
      await session.deleteMessages(["a2"]);
      look();
      await session.clearMessages();
      look();
      return steps;
    });
    expect(seen).toEqual([
      ["one", "two"],
      ["one", "two"],
      ["one", "instead"],
      ["one, better", "instead"],
      ["one, better"],
      []
    ]);
  });

  it("is in the next prompt and in what clients get, without a turn having stored it", async () => {
    const { stub, client, model, connect } = await newAgent(["Noted."]);
    await runInAgent(stub(), (agent: ContractApiAgent) =>
      agent.session.appendMessage(userMessage("kept aside", "k"))
    );
    const tab = await connect();
    await tab.waitFor("cf_agent_chat_messages");
    expect(texts(tab.messages)).toEqual(["kept aside"]);
    await client.chat("Go").done;
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain("kept aside");
  });

  it("a compaction that an append starts refreshes the list (trap 16)", async () => {
    const { stub } = await newAgent([], (session) => {
      session
        .onCompaction((messages) => {
          const [first, second] = messages;
          if (messages.length < 4 || !first || !second) return Promise.resolve(null);
          return Promise.resolve({
            fromMessageId: first.id,
            toMessageId: second.id,
            summary: "In short: hello."
          });
        })
        .compactAfter(1);
    });
    const { list, whole } = await runInAgent(stub(), async (agent: ContractApiAgent) => {
      for (let index = 1; index <= 4; index += 1)
        await agent.session.appendMessage(userMessage(`message ${index}`, `m${index}`));
      return { list: texts(agent.messages), whole: agent.session.getPathLength() };
    });
    expect(list.join(" ")).toContain("In short: hello.");
    expect(list.join(" ")).not.toContain("message 1");
    expect(list.at(-1)).toBe("message 4");
    expect(whole).toBe(4);
  });

  it("in mid-stream does not take the growing answer away", async () => {
    const hold = gate();
    const { stub, client } = await newAgent([[text("first half, "), hold, text("second half")]]);
    const turn = client.chat("Go");
    await turn.waitForText("first half");
    await runInAgent(stub(), (agent: ContractApiAgent) =>
      agent.session.appendMessage(userMessage("by the way", "w"))
    );
    hold.open();
    expect((await turn.done).text).toBe("first half, second half");
    expect(texts(await client.history())).toEqual(
      expect.arrayContaining(["Go", "by the way", "first half, second half"])
    );
  });
});

describe("§9.1.4 the system prompt", () => {
  it("is the Session's frozen one when there are blocks, in place of getSystemPrompt(), with the capabilities after it", async () => {
    const { stub, client, model } = await newAgent(["one", "two", "three", "four"], (session) => {
      session
        .withContext("rules", { provider: { get: () => Promise.resolve("Speak softly.") } })
        .withContext("notes");
      session.withCachedPrompt();
    });
    const system = (index: number) => JSON.stringify(model.calls[index]?.prompt[0]?.content);
    await client.chat("1").done;
    expect(system(0)).toContain("Speak softly.");
    expect(system(0)).not.toContain("You are a careful, capable assistant");
    expect(system(0).indexOf("You are running inside a Think agent.")).toBeGreaterThan(
      system(0).indexOf("Speak softly.")
    );
    await runInAgent(stub(), (agent: ContractApiAgent) =>
      agent.session.replaceContextBlock("notes", "a fact")
    );
    await client.chat("2").done;
    expect(system(1)).toBe(system(0));
    await evict(stub());
    await client.chat("3").done;
    expect(system(2)).toBe(system(0));
    await runInAgent(stub(), (agent: ContractApiAgent) => agent.session.refreshSystemPrompt());
    await client.chat("4").done;
    expect(system(3)).toContain("a fact");
  });

  it("§9.1.3 context tools come with the blocks, above the agent's own", async () => {
    const { client, model } = await newAgent(["one"], (session) => void session.withContext("notes"));
    await client.chat("1").done;
    expect(model.calls[0]?.toolNames).toContain("set_context");
  });
});

describe("§11 configureSession", () => {
  it("runs once per start, before onStart, and may use configure() and getConfig() on the very first one", async () => {
    const calls: unknown[] = [];
    const { stub, client } = await newAgent(["one"], async (session, agent) => {
      calls.push([agent.started === undefined, agent.getConfig()]);
      agent.configure({ starts: (agent.getConfig<{ starts: number }>()?.starts ?? 0) + 100 });
      session.withContext("notes");
    });
    expect(await runInAgent(stub(), (agent: ContractApiAgent) => agent.started)).toEqual({
      messages: 0,
      config: { starts: 100 }
    });
    await client.chat("Hi").done;
    await client.chat("Hi again", { id: "fails, which is no start" }).done;
    expect(calls).toEqual([[true, null]]);
    await evict(stub());
    await stub().getMessages();
    expect(calls).toEqual([
      [true, null],
      [true, { starts: 101 }]
    ]);
  });
});

describe("§13 exports", () => {
  it("has the values of the contract at its root", () => {
    expect(Object.keys(api)).toEqual(
      expect.arrayContaining(["Think", "Session", "Workspace", "defaultContextOverflowClassifier"])
    );
    expect(api.Session.create).toBeInstanceOf(Function);
  });
});

describe("§1.3, edges §17–§19 connecting", () => {
  it("gives the base class's frames and the chat's, each once, and the agent's own onConnect last", async () => {
    const name = "contract-connect";
    await runInAgent(env.WireAgent.getByName(name), (agent) => agent.setState({ colour: "red" }));
    const client = await connectChat(exports.default, { agent: "WireAgent", name });
    await client.waitFor("greeting");
    await client.resume({ probeId: "all are here" });
    const types = client.frames.map(({ type }) => type);
    for (const type of [
      "cf_agent_identity",
      "cf_agent_state",
      "cf_agent_mcp_servers",
      "cf_agent_chat_messages"
    ])
      expect(types.filter((other) => other === type)).toHaveLength(1);
    expect(types.indexOf("greeting")).toBeGreaterThan(types.indexOf("cf_agent_chat_messages"));
    expect(client.frames.find(({ type }) => type === "cf_agent_identity")).toMatchObject({
      name,
      agent: "wire-agent"
    });
    expect(client.frames.find(({ type }) => type === "cf_agent_chat_messages")).toMatchObject({
      connect: true
    });
  });

  it("edges §18 a new agent serves an empty JSON list, with any query", async () => {
    const response = await exports.default.fetch(
      "https://example.com/agents/chat-agent/brand-new/get-messages?_pk=1&x=2"
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toEqual([]);
  });

  it("edges §18 during a stream it may lack the growing answer, and has the question", async () => {
    const hold = gate();
    const { client, name } = await newAgent([[text("half"), hold, text(" whole")]]);
    const turn = client.chat("Question");
    await turn.waitForText("half");
    const url = `https://example.com/agents/contract-api-agent/${name}/get-messages`;
    const during = await (await exports.default.fetch(url)).json<UIMessage[]>();
    expect(during.map(({ role }) => role)).toEqual(["user"]);
    hold.open();
    await turn.done;
    expect(await (await exports.default.fetch(url)).json()).toHaveLength(2);
  });
});
