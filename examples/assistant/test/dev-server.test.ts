/** `pnpm dev` on a new machine: no build, no key, no account, no network. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useBrowser } from "./support/browser";
import { ChatPage } from "./support/chat-page";
import { type Server, startServer } from "./support/server";

const browser = useBrowser();
let state = "";
let server: Server | undefined;

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "assistant-dev-"));
  server = await startServer({ mode: "dev", state });
});
afterAll(async () => {
  await server?.stop();
  await rm(state, { recursive: true, force: true });
});

describe("the development server", () => {
  it("gives the first answer, through a tool", async () => {
    if (server === undefined) throw new Error("The server is started in beforeAll.");
    const chat = await ChatPage.open(await browser.newContext(), server.url);
    expect(await chat.ask("write a file hello.txt with Hello and then read it back")).toContain("Hello");
  });
});
