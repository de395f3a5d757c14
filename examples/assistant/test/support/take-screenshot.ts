/** Builds the example, has a short conversation, and saves a picture of it in `docs`. Run by `pnpm screenshot`. */
import {
  ChatPage,
  findChromium,
  launchChromium,
  buildExample,
  startServer
} from "@cloudflare/think-example-kit/browser-test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PICTURE = fileURLToPath(new URL("../../../../docs/assistant.png", import.meta.url));
const EXAMPLE = fileURLToPath(new URL("../../", import.meta.url));
const FILES = {
  "notes/ideas.md": "# Ideas\n- paint the lighthouse\n- a log that never forgets",
  "notes/launch.md": "# Launch\n- ask Ada for a photo of the lighthouse\n- tell a friend",
  "readme.md": "# Harbour\nEverything about the coast."
};

const browser = await launchChromium(await findChromium());
await buildExample(EXAMPLE);
const state = await mkdtemp(join(tmpdir(), "assistant-screenshot-"));
const server = await startServer({ example: EXAMPLE, mode: "preview", state });
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2 });
  // Earlier chats first, so that the list on the left is not empty.
  for (const request of ["think about the tides", "tell me a long story"]) {
    const earlier = await ChatPage.open(context, server.url);
    await earlier.send(request);
    await earlier.stopButton.click();
    await earlier.page.close();
  }
  const chat = await ChatPage.open(context, server.url);
  for (const [path, content] of Object.entries(FILES)) await chat.ask(`write a file ${path} with ${content}`);
  // Clearing keeps the files: the conversation in the picture finds them there.
  await chat.clear();
  await chat.ask("search for lighthouse");
  await chat.tool("grep").locator("summary").click();
  await chat.composer.fill("replace paint with photograph in /notes/ideas.md");
  await chat.page.mouse.move(0, 0);
  await chat.page.screenshot({ path: PICTURE, animations: "disabled" });
} finally {
  await browser.close();
  await server.stop();
  await rm(state, { recursive: true, force: true });
}
