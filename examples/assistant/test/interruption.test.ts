/** The plug is pulled on the server in the middle of an answer. */
import { useBrowser, ChatPage, type Server, startServer } from "@cloudflare/think-example-kit/browser-test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const example = fileURLToPath(new URL("..", import.meta.url));
const browser = useBrowser();
let state = "";
let server: Server | undefined;

async function start(port?: number): Promise<Server> {
  server = await startServer({ example, mode: "preview", state, ...(port === undefined ? {} : { port }) });
  return server;
}

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "assistant-interruption-"));
});
afterAll(async () => {
  await server?.stop("SIGKILL");
  await rm(state, { recursive: true, force: true });
});

describe("a server that dies in mid-answer", () => {
  it("leaves the words on the page, goes on with the answer where it stopped, and takes the next message", async () => {
    const { url, port, stop } = await start();
    const chat = await ChatPage.open(await browser.newContext(), url);
    await chat.send("tell me a long story");
    await chat.chapter("2. The log").waitFor();
    await stop("SIGKILL");
    await chat.status("Reconnecting").waitFor();
    expect(await chat.chapter("1. The rock").count()).toBe(1);

    await start(port);
    await chat.chapter("4. The dark").waitFor();
    await chat.stopButton.click();
    await chat.status("Connected").waitFor();
    // What was said before and what was said after the interruption are two messages.
    await expect.poll(() => chat.answers.count()).toBe(2);
    expect(await chat.page.getByRole("heading", { name: "1. The rock" }).count()).toBe(1);
    expect(await chat.requests.count()).toBe(1);
    expect(await chat.ask("list files")).toContain("is empty");

    await chat.reload();
    await chat.answers.filter({ hasText: "is empty" }).waitFor();
    expect(await chat.page.getByRole("heading", { name: "1. The rock" }).count()).toBe(1);
    expect(await chat.requests.count()).toBe(2);
  });
});
