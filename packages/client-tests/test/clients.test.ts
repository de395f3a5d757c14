/** The same conversations through both generations of the stock client, each against a real server. */
import { useAgentChat } from "@cloudflare/ai-chat/react";
import { useAgentChat as useAgentsChat } from "agents/chat/react";
import { describe, expect, it, vi } from "vitest";
import { currentClient, oldClient } from "./support/clients";
import { testIn, type Room } from "./support/room";
import { textOf, type Tab } from "./support/tab";

it("the current client package re-exports the hook that is tested here", () => {
  expect(useAgentChat).toBe(useAgentsChat);
});

// Each test has a conversation of its own and mostly waits for it, so several run at the same time.
describe.concurrent.each([currentClient, oldClient])("useAgentChat of $name", (client) => {
  const it = testIn(client);
  const roles = (tab: Tab) => tab.messages.map((message) => message.role);
  const tool = (tab: Tab, name: string) =>
    tab.messages.flatMap((message) => message.parts).find((part) => part.type === `tool-${name}`);
  const startsStory = async (room: Room, tab: Tab) => {
    tab.send("story");
    await room.reached("story");
    await tab.shows("Once upon a time ");
  };
  const story = "Once upon a time there was a lighthouse.";
  const hello = "Hello there, nice to meet you.";

  describe("a conversation", () => {
    it("sends a message and streams the answer", async ({ room }) => {
      const tab = await room.open();
      expect(tab.messages).toEqual([]);
      await startsStory(room, tab);
      expect(tab.view.status).toBe("streaming");
      await room.release("story");
      await tab.answered(story);
      expect(tab.lastText).toBe(story);
      expect(roles(tab)).toEqual(["user", "assistant"]);
      expect(tab.view.status).toBe("ready");
      await room.expectAgreement();
    });

    it("goes on for several turns", async ({ room }) => {
      const tab = await room.open();
      for (const number of [0, 1, 2]) {
        tab.send("number");
        await tab.answered(`Answer number ${number}.`);
      }
      expect(roles(tab)).toEqual(["user", "assistant", "user", "assistant", "user", "assistant"]);
      await room.expectAgreement();
    });

    it("has its history after a reload", async ({ room }) => {
      const tab = await room.open();
      tab.send("weather");
      await tab.answered("Looking.It is sunny in Paris.");
      const before = await room.history();
      await tab.reload();
      expect(tab.lastText).toBe("Looking.It is sunny in Paris.");
      expect(await room.history()).toEqual(before);
      await room.expectAgreement();
    });

    it("answers a message that was sent while the socket was connecting", async ({ room }) => {
      const tab = await room.open();
      tab.leave();
      const connect = tab.line.hold();
      await tab.load();
      tab.send("hello");
      await tab.until("the question", (view) => view.messages.length === 1);
      connect();
      await tab.answered(hello);
      expect(roles(tab)).toEqual(["user", "assistant"]);
      await room.expectAgreement();
    });

    it("keeps what it had when the user stops the answer", async ({ room }) => {
      const tab = await room.open();
      await startsStory(room, tab);
      await tab.view.stop();
      await tab.ended();
      await room.release("story");
      expect(tab.lastText).toBe("Once upon a time ");
      tab.send("hello");
      await tab.answered(hello);
      await room.expectAgreement();
    });

    it("replaces an answer when the user wants another one", async ({ room }) => {
      const tab = await room.open();
      tab.send("number");
      await tab.answered("Answer number 0.");
      const first = tab.messages.at(-1)?.id;
      void tab.view.regenerate();
      await tab.answered("Answer number 1.");
      expect(roles(tab)).toEqual(["user", "assistant"]);
      expect(tab.messages.at(-1)?.id).not.toBe(first);
      await room.expectAgreement();
    });

    it("replaces an answer in every tab", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      tab.send("number");
      await tab.answered("Answer number 0.");
      await other.answered("Answer number 0.");
      void tab.view.regenerate();
      await tab.answered("Answer number 1.");
      await other.answered("Answer number 1.");
      expect(roles(other)).toEqual(["user", "assistant"]);
      await room.expectAgreement();
    });

    it("shows in every tab the branch and the session that are chosen, and goes on there", async ({
      room
    }) => {
      const [tab, other] = [await room.open(), await room.open()];
      tab.send("number");
      await tab.answered("Answer number 0.");
      const old = tab.messages.at(-1)?.id ?? "";
      void tab.view.regenerate();
      await tab.answered("Answer number 1.");
      await room.follow(old);
      for (const page of [tab, other]) await page.answered("Answer number 0.");
      await room.expectAgreement();
      await room.enter("new");
      for (const page of [tab, other])
        await page.until("an empty page", (view) => view.messages.length === 0);
      other.send("hello");
      for (const page of [tab, other]) await page.answered(hello);
      await room.expectAgreement();
      await room.enter("default");
      for (const page of [tab, other]) await page.answered("Answer number 0.");
      tab.send("hello");
      for (const page of [tab, other]) await page.answered(hello);
      expect(roles(other)).toEqual(["user", "assistant", "user", "assistant"]);
      await room.expectAgreement();
    });

    it("starts from nothing after a clear, in every tab", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      tab.send("hello");
      await other.answered(hello);
      await tab.answered(hello);
      tab.view.clearHistory();
      await tab.until("an empty page", (view) => view.messages.length === 0);
      await other.until("an empty page", (view) => view.messages.length === 0);
      expect(await room.history()).toEqual([]);
      tab.send("number");
      await tab.answered("Answer number 1.");
      await other.answered("Answer number 1.");
      expect(roles(other)).toEqual(["user", "assistant"]);
      await room.expectAgreement();
    });

    it("is empty after a clear in mid-answer, and stays empty", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      await startsStory(room, tab);
      await other.shows("Once upon a time ");
      const isOver = tab.line.hears('"done":true');
      tab.view.clearHistory();
      await tab.until("an empty page", (view) => view.messages.length === 0);
      await other.until("an empty page", (view) => view.messages.length === 0);
      await isOver;
      await room.expectAgreement();
      await room.release("story");
      expect(await room.history()).toEqual([]);
      await room.expectAgreement();
    });
  });

  describe("tools", () => {
    it("shows the call and the output of a server tool", async ({ room }) => {
      const tab = await room.open();
      tab.send("weather");
      await tab.answered("Looking.It is sunny in Paris.");
      expect(tool(tab, "weather")).toMatchObject({
        state: "output-available",
        input: { city: "Paris" },
        output: { city: "Paris", sky: "sunny" }
      });
      await room.expectAgreement();
    });

    it("runs a tool of the page once, and the answer goes on by itself", async ({ room }) => {
      const tab = await room.open();
      tab.send("locate");
      await tab.answered("You are in Lisbon.");
      expect(tab.toolRuns).toBe(1);
      expect(roles(tab)).toEqual(["user", "assistant", "assistant"]);
      expect(tool(tab, "locate")).toMatchObject({ state: "output-available", output: { city: "Lisbon" } });
      await room.expectAgreement();
    });

    it("resumes an answer that goes on after a tool of the page", async ({ room }) => {
      const tab = await room.open();
      tab.send("locate slowly");
      await room.reached("locate");
      await tab.reload();
      await tab.shows("You are ");
      await room.release("locate");
      await tab.answered("You are in Lisbon.");
      expect(tab.toolRuns).toBe(1);
      expect(roles(tab)).toEqual(["user", "assistant", "assistant"]);
      expect(tool(tab, "locate")).toMatchObject({ state: "output-available" });
      await room.expectAgreement();
    });

    it("asks before it runs a tool that needs approval, and runs it once when approved", async ({ room }) => {
      const tab = await room.open();
      tab.send("delete");
      await tab.answered("Shall I?");
      await decide(tab, true);
      await tab.answered("It is gone.");
      expect(roles(tab)).toEqual(["user", "assistant", "assistant"]);
      expect(tool(tab, "deleteFile")).toMatchObject({
        state: "output-available",
        output: { path: "/a.txt", deletions: 1 }
      });
      await room.expectAgreement();
    });

    it("does not run a tool whose approval was denied", async ({ room }) => {
      const tab = await room.open();
      tab.send("delete");
      await tab.answered("Shall I?");
      await decide(tab, false);
      await tab.answered("I left it alone.");
      expect(roles(tab)).toEqual(["user", "assistant", "assistant"]);
      expect(tool(tab, "deleteFile")).toMatchObject({ state: "output-denied" });
      await room.expectAgreement();
    });

    it("can be approved after a reload, from another tab", async ({ room }) => {
      const tab = await room.open();
      tab.send("delete");
      await tab.answered("Shall I?");
      await tab.reload();
      const other = await room.open();
      await decide(other, true);
      await other.answered("It is gone.");
      await tab.answered("It is gone.");
      expect(tool(other, "deleteFile")).toMatchObject({ output: { deletions: 1 } });
      await room.expectAgreement();
    });

    const decide = async (tab: Tab, approved: boolean) => {
      await tab.until("the request for approval", () => tool(tab, "deleteFile")?.approval !== undefined);
      const id = tool(tab, "deleteFile")?.approval?.id ?? "";
      tab.view.addToolApprovalResponse({ id, approved });
    };
  });

  describe("resuming", () => {
    it("shows the whole answer once after a reload in mid-stream", async ({ room }) => {
      const tab = await room.open();
      await startsStory(room, tab);
      await tab.reload();
      await tab.shows("Once upon a time ");
      await room.release("story");
      await tab.answered(story);
      expect(tab.lastText).toBe(story);
      expect(roles(tab)).toEqual(["user", "assistant"]);
      await room.expectAgreement();
    });

    it("shows the whole answer when it ended while no tab was open", async ({ room }) => {
      const tab = await room.open();
      await startsStory(room, tab);
      tab.leave();
      await room.release("story");
      await vi.waitFor(async () => expect(textOf((await room.history()).at(-1))).toBe(story), {
        timeout: 30_000
      });
      await tab.load();
      await tab.connected();
      await tab.answered(story);
      expect(tab.lastText).toBe(story);
      await room.expectAgreement();
    });

    it("shows partial text and error of a failed answer", async ({ room }) => {
      const tab = await room.open();
      tab.send("break");
      await tab.until("the error", (view) => view.status === "error");
      expect(tab.view.error?.message).toBe("The provider is gone.");
      expect(tab.lastText).toBe("So far so ");
      await room.expectAgreement();
    });

    it("shows partial text and error again after a reload", async ({ room }) => {
      const tab = await room.open();
      tab.send("break");
      await tab.until("the error", (view) => view.status === "error");
      await tab.reload();
      await tab.until("the error", (view) => view.status === "error");
      expect(tab.view.error?.message).toBe("The provider is gone.");
      expect(tab.lastText).toBe("So far so ");
      expect(roles(tab)).toEqual(["user", "assistant"]);
      await room.expectAgreement();
    });

    it("shows partial text and error when the answer fails after a reload in mid-stream", async ({
      room
    }) => {
      const tab = await room.open();
      tab.send("break slowly");
      await room.reached("break");
      await tab.reload();
      await tab.shows("So far so ");
      await room.release("break");
      await tab.until("the error", (view) => view.status === "error");
      expect(tab.view.error?.message).toBe("The provider is gone.");
      expect(tab.lastText).toBe("So far so good, but");
      await room.expectAgreement();
    });

    it("goes on after an error", async ({ room }) => {
      const tab = await room.open();
      tab.send("break");
      await tab.until("the error", (view) => view.status === "error");
      await tab.reload();
      await tab.until("the error", (view) => view.status === "error");
      tab.send("hello");
      await tab.answered(hello);
      expect(tab.view.error).toBeUndefined();
      await tab.reload();
      await tab.answered(hello);
      expect(tab.view.status).toBe("ready");
      await room.expectAgreement();
    });

    const scripts = ["story", "expedition", "locate slowly"];

    for (const script of scripts) {
      const label = script.split(" ", 1)[0] ?? script;
      const asks = async (room: Room, tab: Tab, watching: Tab) => {
        tab.send(script);
        await room.reached(label);
        for (const each of [tab, watching]) {
          await each.until("the first half", ({ messages }) => textOf(messages.at(-1)).endsWith(" "));
        }
      };

      it(`gives an asking tab that lost its socket for a moment the same as a tab that stayed: ${script}`, async ({
        room
      }) => {
        const [asking, stayed] = [await room.open(), await room.open()];
        await asks(room, asking, stayed);
        await asking.loseConnection();
        await room.release(label);
        await asking.ended();
        await stayed.ended();
        await room.expectAgreement();
      });

      it(`gives a watching tab that lost its socket for a moment the same as the asking tab: ${script}`, async ({
        room
      }) => {
        const [asking, watching] = [await room.open(), await room.open()];
        await asks(room, asking, watching);
        await watching.loseConnection();
        await room.release(label);
        await asking.ended();
        await watching.ended();
        await room.expectAgreement();
      });

      it(`gives an asking tab that was offline at the end the same as a tab that stayed: ${script}`, async ({
        room
      }) => {
        const [asking, stayed] = [await room.open(), await room.open()];
        await asks(room, asking, stayed);
        const connect = asking.line.hold();
        asking.line.cut();
        await room.release(label);
        await stayed.ended();
        connect();
        await asking.connected();
        if (client.keepsHalfAnswers) await asking.reload();
        await room.expectAgreement();
      });

      it(`gives a watching tab that was offline at the end the same as the asking tab: ${script}`, async ({
        room
      }) => {
        const [asking, watching] = [await room.open(), await room.open()];
        await asks(room, asking, watching);
        const connect = watching.line.hold();
        watching.line.cut();
        await room.release(label);
        await asking.ended();
        connect();
        await watching.connected();
        await room.expectAgreement();
      });
    }
  });

  describe("two tabs", () => {
    it("show question and answer of the first in the second", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      await startsStory(room, tab);
      await other.shows("Once upon a time ");
      expect(other.view.isServerStreaming).toBe(true);
      expect(roles(other)).toEqual(["user", "assistant"]);
      await room.release("story");
      await tab.answered(story);
      await other.answered(story);
      expect(other.lastText).toBe(story);
      await room.expectAgreement();
    });

    it("both have the whole answer when one is reloaded in mid-stream", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      await startsStory(room, tab);
      await tab.reload();
      await tab.shows("Once upon a time ");
      await other.reload();
      await other.shows("Once upon a time ");
      await room.release("story");
      await tab.answered(story);
      await other.answered(story);
      expect([tab.lastText, other.lastText]).toEqual([story, story]);
      await room.expectAgreement();
    });

    it("show the question to a tab whose socket opens while it is being answered", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      other.leave();
      const connect = other.line.hold();
      await other.load();
      await startsStory(room, tab);
      connect();
      await other.shows("Once upon a time ");
      await room.release("story");
      await tab.answered(story);
      await other.answered(story);
      await room.expectAgreement();
      expect(roles(other)).toEqual(["user", "assistant"]);
    });

    it("are told how a request ended, by the ids of the messages that it answered", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      tab.send("hello");
      await tab.answered(hello);
      await other.answered(hello);
      tab.send("break");
      await tab.until("the error", ({ error }) => error !== undefined);
      await other.ended();
      const [first, second] = tab.messages.filter(({ role }) => role === "user").map(({ id }) => id);
      const told = [
        expect.objectContaining({ messageIds: [first], outcome: "completed", replay: false }),
        expect.objectContaining({ messageIds: [second], outcome: "error", replay: false })
      ];
      for (const each of [tab, other])
        await each.until("all ends", () => !client.tellsEnds || each.ends.length >= told.length);
      expect([tab.ends, other.ends]).toEqual(client.tellsEnds ? [told, told] : [[], []]);
    });

    it("can both ask, one after the other", async ({ room }) => {
      const [tab, other] = [await room.open(), await room.open()];
      tab.send("number");
      await tab.answered("Answer number 0.");
      await other.answered("Answer number 0.");
      other.send("number");
      await other.answered("Answer number 1.");
      await tab.answered("Answer number 1.");
      expect(roles(tab)).toEqual(["user", "assistant", "user", "assistant"]);
      await room.expectAgreement();
    });
  });
});
