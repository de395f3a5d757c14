/** Two researchers at once: live progress, drill-in, stop, reload, clean-up (contract tools.md §7.6). */
import { useBrowser } from "@cloudflare/think-example-kit/browser-test";
import { describe, expect, inject, it } from "vitest";
import { DeskPage } from "./desk-page";

const browser = useBrowser();
const baseUrl = inject("baseUrl");

async function openDesk(chatId?: string): Promise<DeskPage> {
  return await DeskPage.open(await browser.newContext(), baseUrl, chatId);
}

/** Asks for two topics and waits until both researchers have read something. */
async function bothAtWork(): Promise<DeskPage> {
  const desk = await openDesk();
  await desk.lead.send("research tides and lighthouses");
  await desk.words("tides").getByText("What I read").waitFor();
  await desk.words("lighthouses").getByText("What I read").waitFor();
  return desk;
}

describe("delegating", () => {
  it("runs two researchers at once, and both write before either is finished", async () => {
    const desk = await bothAtWork();
    for (const topic of ["tides", "lighthouses"]) {
      expect(await desk.phase(topic, "Researching").count()).toBe(1);
      const early = (await desk.words(topic).innerText()).length;
      await expect.poll(async () => (await desk.words(topic).innerText()).length).toBeGreaterThan(early);
      expect(await desk.steps(topic)).toEqual(["find", "read"]);
    }
    expect(await desk.lead.answers.last().getAttribute("aria-busy")).toBe("true");

    await desk.lead.finished();
    for (const topic of ["tides", "lighthouses"]) {
      await desk.phase(topic, "Done").waitFor();
      expect(await desk.steps(topic)).toEqual(["find", "read", "write"]);
    }
    const answer = await desk.lead.answers.last().innerText();
    expect(answer).toContain("The sea rises and falls");
    expect(answer).toContain("A lighthouse tells a sailor two things");
  });

  it("says so when a researcher finds nothing, and keeps what the other found", async () => {
    const desk = await openDesk();
    const answer = await desk.lead.ask("research knots and submarines");
    expect(answer).toContain("A knot holds by friction");
    expect(answer).toContain("nothing on submarines");
  });
});

describe("looking in", () => {
  it("shows the researcher's own conversation while it works, and answers from the files that all share", async () => {
    const desk = await bothAtWork();
    const panel = await desk.lookIn("lighthouses");
    await panel.locator('details[data-tool="read"]').waitFor();
    expect(await panel.innerText()).not.toContain("the Moon pulls");
    const before = (await panel.innerText()).length;
    await expect.poll(async () => (await panel.innerText()).length).toBeGreaterThan(before);
    await panel.locator('details[data-tool="write"]').getByText("Done").waitFor();
    await panel.getByText("Connected", { exact: true }).waitFor();

    // Both work on the lead's files, so one can read the other's note.
    await desk.lead.finished();
    const composer = panel.getByRole("textbox", { name: "Message" });
    await composer.fill("what does the note on tides say?");
    await composer.press("Enter");
    await panel.getByText("My note in").waitFor();
    await panel.getByRole("listitem").filter({ hasText: "The sea rises and falls" }).waitFor();
    expect(await desk.lead.answers.last().innerText()).not.toContain("My note in");

    await panel.getByRole("button", { name: "Close" }).click();
    expect(await desk.panel("lighthouses").count()).toBe(0);
  });
});

describe("stopping", () => {
  it("the lead stops every researcher, in its own chat too", async () => {
    const desk = await bothAtWork();
    const panel = await desk.lookIn("tides");
    await desk.lead.stopButton.click();
    await desk.phase("tides", "Stopped").waitFor();
    await desk.phase("lighthouses", "Stopped").waitFor();
    await panel.getByText("Connected", { exact: true }).waitFor();
    const said = await panel.innerText();
    expect(said).not.toContain("Bay of Fundy");
    await desk.lead.reload();
    await desk.phase("tides", "Stopped").waitFor();
    await desk.phase("lighthouses", "Stopped").waitFor();
  });

  it("one researcher leaves the other at work, and the lead answers with what there is", async () => {
    const desk = await bothAtWork();
    await desk.card("tides").getByRole("button", { name: "Stop this one" }).click();
    await desk.phase("tides", "Stopped").waitFor();
    expect(await desk.phase("lighthouses", "Researching").count()).toBe(1);
    await desk.lead.finished();
    await desk.phase("lighthouses", "Done").waitFor();
    const answer = await desk.lead.answers.last().innerText();
    expect(answer).toContain("the researcher was stopped");
    expect(answer).toContain("Fresnel");
  });
});

describe("coming back", () => {
  it("after a reload in the middle shows both researchers where they are, and goes on", async () => {
    const desk = await bothAtWork();
    const before = (await desk.words("tides").innerText()).length;
    await desk.lead.reload();
    for (const topic of ["tides", "lighthouses"]) {
      await desk.phase(topic, "Researching").waitFor();
      await desk.words(topic).getByText("What I read").waitFor();
      expect(await desk.card(topic).count()).toBe(1);
    }
    expect((await desk.words("tides").innerText()).length).toBeGreaterThanOrEqual(before);
    await desk.lead.finished();
    for (const topic of ["tides", "lighthouses"]) await desk.phase(topic, "Done").waitFor();
    expect(await desk.lead.requests.count()).toBe(1);
    expect(await desk.lead.answers.count()).toBe(1);
  });
});

describe("cleaning up", () => {
  it("removes the runs in every tab, closes the panel, and keeps the lead's answer", async () => {
    const desk = await openDesk();
    await desk.lead.ask("research honeybees and sourdough");
    const context = desk.page.context();
    const second = await DeskPage.open(context, baseUrl, new URL(desk.page.url()).hash.slice(1));
    await second.phase("honeybees", "Done").waitFor();
    const sockets: string[] = [];
    desk.page.on("websocket", (socket) => sockets.push(socket.url()));
    await desk.lookIn("honeybees");
    const address = new URL(sockets.find((url) => url.includes("/sub/researcher/")) ?? "");
    const messages = new URL(`${address.pathname}/get-messages`, baseUrl);
    expect((await fetch(messages)).status).toBe(200);
    expect(await desk.cleanUpButton.innerText()).toContain("2");
    await desk.cleanUp();
    for (const tab of [desk, second]) {
      await tab.phase("honeybees", "Removed").waitFor();
      await tab.phase("sourdough", "Removed").waitFor();
      expect(await tab.card("honeybees").getByRole("button").count()).toBe(0);
    }
    expect(await desk.panel("honeybees").count()).toBe(0);
    expect((await fetch(messages)).status).toBe(404);
    await desk.lead.reload();
    await desk.phase("honeybees", "Removed").waitFor();
    expect(await desk.cleanUpButton.isDisabled()).toBe(true);
    expect(await desk.lead.answers.last().innerText()).toContain("A colony is some thirty thousand workers");
  });

  it("leaves no way to a researcher that was never sent", async () => {
    const desk = await openDesk();
    const chat = new URL(desk.page.url()).hash.slice(1);
    const address = (run: string) =>
      new URL(`agents/lead/${chat}/sub/researcher/${run}/get-messages`, baseUrl);
    expect((await fetch(address("stranger"))).status).toBe(404);
    expect((await fetch(address("agent-tool:guess"))).status).toBe(404);
  });
});

describe("on a phone", () => {
  it("shows the researchers below each other, and one of them over the whole page", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const desk = await DeskPage.open(context, baseUrl);
    await desk.lead.send("research tides and lighthouses");
    await desk.words("lighthouses").getByText("What I read").waitFor();
    const [first, second] = [
      await desk.card("tides").boundingBox(),
      await desk.card("lighthouses").boundingBox()
    ];
    expect(first?.x).toBe(second?.x);
    expect(await desk.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const panel = await desk.lookIn("lighthouses");
    expect(await panel.boundingBox()).toMatchObject({ x: 0, y: 0, width: 390, height: 844 });
    await panel.getByRole("button", { name: "Close" }).click();
    await desk.lead.stopButton.click();
    await desk.phase("lighthouses", "Stopped").waitFor();
  });
});
