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
  it("leaves the words on the page, goes on with them by itself when it is back, and takes the next message", async () => {
    const { url, port, stop } = await start();
    const chat = await ChatPage.open(await browser.newContext(), url);
    const chapters = (title: string) => chat.page.getByRole("heading", { name: title });
    await chat.send("tell me a long story");
    await chat.chapter("2. The log").waitFor();
    await stop("SIGKILL");
    await chat.status("Reconnecting").waitFor();
    expect(await chapters("1. The rock").count()).toBe(1);

    await start(port);
    await chapters("4. The dark").waitFor();
    await chat.stopButton.click();
    // The page holds one answer until the stored list arrives: what went on after the interruption is a message of its own.
    await chat.answers.nth(1).filter({ hasText: "Stopped" }).waitFor();
    expect(await chat.page.getByText("Stopped", { exact: true }).count()).toBe(1);
    await chat.status("Connected").waitFor();
    expect(await chat.requests.count()).toBe(1);
    expect(await chat.ask("list files")).toContain("is empty");

    await chat.reload();
    await chat.answers.filter({ hasText: "is empty" }).waitFor();
    for (const title of ["1. The rock", "2. The log", "3. The storm", "4. The dark"])
      expect(await chapters(title).count()).toBe(1);
    expect(await chat.requests.count()).toBe(2);
  });
});
