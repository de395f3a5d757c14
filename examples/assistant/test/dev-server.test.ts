/** `pnpm dev` on a new machine: no build, no key, no account, no network. */
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

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "assistant-dev-"));
  server = await startServer({ example, mode: "dev", state });
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
