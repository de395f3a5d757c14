/** Builds the example, sends two researchers, and saves a picture of them at work in `docs`. Run by `pnpm screenshot`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  buildExample,
  findChromium,
  launchChromium,
  startServer
} from "@cloudflare/think-example-kit/browser-test";
import { DeskPage } from "../desk-page";

const PICTURE = fileURLToPath(new URL("../../../../docs/agents-as-tools.png", import.meta.url));
const EXAMPLE = fileURLToPath(new URL("../../", import.meta.url));

const browser = await launchChromium(await findChromium());
await buildExample(EXAMPLE);
const state = await mkdtemp(join(tmpdir(), "agents-as-tools-screenshot-"));
const server = await startServer({ example: EXAMPLE, mode: "preview", state });
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 860 }, deviceScaleFactor: 2 });
  const desk = await DeskPage.open(context, server.url);
  await desk.lead.send("research tides and lighthouses");
  await desk.words("lighthouses").getByText("The Pharos of Alexandria").waitFor();
  await desk.lookIn("lighthouses");
  await desk.words("lighthouses").getByText("In 1822").waitFor();
  await desk.page.mouse.move(0, 0);
  await desk.page.screenshot({ path: PICTURE });
} finally {
  await browser.close();
  await server.stop();
  await rm(state, { recursive: true, force: true });
}
