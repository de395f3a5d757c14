/** A chat from the first message to the last: streaming, tools, stop, retry, errors, clear. */
import { useBrowser, ChatPage } from "@cloudflare/think-example-kit/browser-test";
import { describe, expect, inject, it } from "vitest";

const browser = useBrowser();
const baseUrl = inject("baseUrl");

async function openChat(chatId?: string): Promise<ChatPage> {
  return await ChatPage.open(await browser.newContext(), baseUrl, chatId);
}

describe("a conversation", () => {
  it("answers the first message without a key, and says on the page that the model is offline", async () => {
    const chat = await openChat();
    await chat.page.getByText("Offline model: a few built-in requests").waitFor();
    expect(await chat.ask("what is the capital of France?")).toContain("offline model");

    await chat.page.getByRole("button", { name: "Connect a model" }).click();
    const dialog = chat.page.getByRole("dialog", { name: "Connect a model" });
    expect(await dialog.innerText()).toContain("OPENAI_BASE_URL");
  });

  it("shows an answer while it is being written", async () => {
    const chat = await openChat();
    await chat.send("tell me a long story");
    await chat.chapter("1. The rock").waitFor();
    const early = (await chat.answers.last().innerText()).length;
    await chat.chapter("2. The log").waitFor();
    expect((await chat.answers.last().innerText()).length).toBeGreaterThan(early);
    expect(await chat.answers.last().getAttribute("aria-busy")).toBe("true");
    await chat.status("Answering").waitFor();
    expect(await chat.chapter("10. The light").count()).toBe(0);
  });

  it("goes on with the answer after a reload in mid-stream", async () => {
    const chat = await openChat();
    await chat.send("tell me a long story");
    await chat.chapter("2. The log").waitFor();
    await chat.reload();
    await chat.chapter("2. The log").waitFor();
    await chat.chapter("4. The dark").waitFor();
    expect(await chat.page.getByRole("heading", { name: "1. The rock" }).count()).toBe(1);
    expect(await chat.requests.count()).toBe(1);
    expect(await chat.answers.count()).toBe(1);
  });

  it("uses tools, and shows each call as a card that unfolds to input and output", async () => {
    const chat = await openChat();
    const answer = await chat.ask("write a file notes/today.md with buy tea and then read it back");
    expect(answer).toContain("now has 1 line");

    for (const name of ["write", "read"]) await chat.tool(name).getByText("Done").waitFor();
    const card = chat.tool("read");
    expect(await card.getByLabel("Result").isVisible()).toBe(false);
    await card.locator("summary").click();
    expect(await card.getByLabel("Result").innerText()).toContain("buy tea");
    expect(await card.locator("dl").innerText()).toContain("/notes/today.md");

    await chat.reload();
    await chat.tool("write").getByText("Done").waitFor();
    expect(await chat.ask("search for tea")).toContain("/notes/today.md:1");
    expect(await chat.ask("replace tea with coffee in /notes/today.md")).toContain("Changed");
    expect(await chat.ask("read /notes/today.md")).toContain("buy coffee");
    expect(await chat.ask("delete /notes/today.md")).toContain("gone");
  });

  it("runs a shell line in the workspace", async () => {
    const chat = await openChat();
    expect(await chat.ask("run echo hello > /hello.txt && cat /hello.txt | tr a-z A-Z")).toContain("HELLO");
    expect(await chat.ask("list files")).toContain("hello.txt");
  });

  it("shows the exit code of a shell line that failed, and does not call it done", async () => {
    const chat = await openChat();
    expect(await chat.ask("run exit 3")).toContain("exit code 3");
    await chat.tool("bash").getByText("Exit 3", { exact: true }).waitFor();
    expect(await chat.tool("bash").getByText("Done").count()).toBe(0);
  });

  it("marks a tool that refused as failed", async () => {
    const chat = await openChat();
    expect(await chat.ask("read /missing.txt")).toContain("That did not work");
    await chat.tool("read").getByText("Failed").waitFor();
  });

  it("shows the reasoning while it is thought and folds it away afterwards", async () => {
    const chat = await openChat();
    await chat.send("think about the tides");
    const reasoning = chat.answers.last().locator("details.reasoning");
    await reasoning.getByText("Thinking…").waitFor();
    await reasoning.getByText("The request is to think about").waitFor();
    await reasoning.getByText("Thought it through").waitFor();
    await chat.finished();
    expect(await reasoning.getAttribute("open")).toBeNull();
    await reasoning.locator("summary").click();
    await reasoning.getByText("leave the knowledge to a real model").waitFor();
  });

  it("stops when told to, says so, keeps what was said, and takes the next message", async () => {
    const chat = await openChat();
    await chat.send("tell me a long story");
    await chat.chapter("1. The rock").waitFor();
    await chat.stopButton.click();
    await chat.status("Connected").waitFor();
    await chat.finished();
    const kept = await chat.answers.last().innerText();
    expect(kept).toContain("1. The rock");
    expect(kept).not.toContain("10. The light");
    await chat.answers.last().getByText("Stopped", { exact: true }).waitFor();

    await chat.reload();
    await chat.status("Connected").waitFor();
    expect(await chat.chapter("1. The rock").count()).toBe(1);
    expect(await chat.ask("list files")).toContain("empty");
  });

  it("answers again on retry, in place of the first answer", async () => {
    const chat = await openChat();
    const first = await chat.ask("hello");
    await chat.page.getByRole("button", { name: "Retry" }).click();
    await chat.status("Answering").waitFor();
    await chat.status("Connected").waitFor();
    await chat.finished();
    expect(await chat.answers.count()).toBe(1);
    expect(await chat.answers.last().innerText()).toBe(first);
    await chat.reload();
    await chat.answers.first().waitFor();
    expect(await chat.answers.count()).toBe(1);
    expect(await chat.requests.count()).toBe(1);
  });

  it("shows an error with its reason, offers retry, and forgets it with the next message", async () => {
    const chat = await openChat();
    await chat.send("fail");
    await chat.alert.getByText("failed on purpose").waitFor();
    expect(await chat.answers.last().innerText()).toContain("I will run into an error on purpose");

    await chat.alert.getByRole("button", { name: "Retry" }).click();
    await chat.alert.waitFor({ state: "detached" });
    await chat.alert.getByText("failed on purpose").waitFor();
    expect(await chat.requests.count()).toBe(1);

    await chat.ask("hello");
    expect(await chat.alert.count()).toBe(0);
  });

  it("clears after asking, for good", async () => {
    const chat = await openChat();
    await chat.ask("hello");
    await chat.page.getByRole("button", { name: "Clear conversation" }).click();
    await chat.page.getByRole("button", { name: "Keep" }).click();
    expect(await chat.answers.count()).toBe(1);
    await chat.clear();
    await chat.welcome.waitFor();
    await chat.reload();
    await chat.welcome.waitFor();
    expect(await chat.requests.count()).toBe(0);
  });

  it("keeps chats apart and finds them again", async () => {
    const chat = await openChat();
    await chat.ask("hello");
    await chat.page.getByRole("button", { name: "New chat" }).click();
    await chat.welcome.waitFor();
    await chat.page
      .getByRole("navigation", { name: "Recent chats" })
      .getByRole("button", { name: "Hello" })
      .click();
    await chat.answers.first().waitFor();
    expect(await chat.requests.first().innerText()).toContain("hello");
  });
});

describe("two tabs on one chat", () => {
  async function openTwo(): Promise<readonly [ChatPage, ChatPage]> {
    const context = await browser.newContext();
    const first = await ChatPage.open(context, baseUrl);
    const chatId = new URL(first.page.url()).hash.slice(1);
    return [first, await ChatPage.open(context, baseUrl, chatId)];
  }

  it("both see the stream, and either can stop it", async () => {
    const [first, second] = await openTwo();
    await first.send("tell me a long story");
    await second.requests.filter({ hasText: "tell me a long story" }).waitFor();
    await second.chapter("2. The log").waitFor();
    await first.chapter("2. The log").waitFor();
    await second.status("Answering").waitFor();
    await second.stopButton.click();
    await first.status("Connected").waitFor();
    await second.status("Connected").waitFor();
    expect(await first.chapter("10. The light").count()).toBe(0);
  });

  it("a tab that joins in the middle catches up and goes on live", async () => {
    const context = await browser.newContext();
    const first = await ChatPage.open(context, baseUrl);
    await first.send("tell me a long story");
    await first.chapter("2. The log").waitFor();
    const late = await ChatPage.open(context, baseUrl, new URL(first.page.url()).hash.slice(1));
    await late.chapter("1. The rock").waitFor();
    await late.chapter("3. The storm").waitFor();
    expect(await late.page.getByRole("heading", { name: "1. The rock" }).count()).toBe(1);
  });

  it("clearing one clears the other", async () => {
    const [first, second] = await openTwo();
    await first.ask("hello");
    await second.answers.first().waitFor();
    await first.clear();
    await second.welcome.waitFor();
    expect(await second.answers.count()).toBe(0);
  });
});
