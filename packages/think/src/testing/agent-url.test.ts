import { describe, expect, it } from "vitest";
import { agentUrl, kebabCase } from "./agent-url";

describe("agentUrl", () => {
  it("builds the address a browser client uses", () => {
    expect(agentUrl("https://host.test", { agent: "MyAgent" }).href).toBe(
      "https://host.test/agents/my-agent/default"
    );
  });

  it("adds prefix, sub-agents, path and query, and encodes names", () => {
    const url = agentUrl("https://host.test/base/", {
      agent: { name: "Inbox" },
      name: "a b/c",
      prefix: "v1/agents",
      sub: [{ agent: "MailChat", name: "x?" }],
      path: "/files/a",
      query: { token: "t&t" }
    });
    expect(url.href).toBe(
      "https://host.test/base/v1/agents/inbox/a%20b%2Fc/sub/mail-chat/x%3F/files/a?token=t%26t"
    );
  });
});

describe("kebabCase", () => {
  it.each([
    ["ChatAgent", "chat-agent"],
    ["chat", "chat"],
    ["HTTPAgent", "h-t-t-p-agent"],
    ["CHAT_AGENT", "chat-agent"],
    ["Chat_Agent", "chat--agent"],
    ["chatAgent_", "chat-agent"]
  ])("turns %s into %s", (name, expected) => {
    expect(kebabCase(name)).toBe(expected);
  });
});
