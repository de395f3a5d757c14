/** The page itself: keyboard, phone, themes, scrolling, names for assistive technology. */
import { useBrowser, ChatPage } from "@cloudflare/think-example-kit/browser-test";
import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";

const browser = useBrowser();
const baseUrl = inject("baseUrl");

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

function focusedName(page: Page): Promise<string | null> {
  return page.evaluate(
    () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? null
  );
}

/** Presses a key until the element with this name has the focus, and fails when it is not reachable. */
async function pressUntilFocused(page: Page, key: string, name: string): Promise<void> {
  const seen: (string | null)[] = [];
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press(key);
    const focused = await focusedName(page);
    seen.push(focused);
    if (focused?.startsWith(name) === true) return;
  }
  throw new Error(`${key} never reached “${name}”, only ${seen.join(", ")}.`);
}

function background(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
}

function lightness(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+(\.\d+)?/g) ?? []).map(Number);
  return (red + green + blue) / 3;
}

describe("by keyboard alone", () => {
  it("writes, sends, stops, unfolds a tool and retries", async () => {
    const chat = await ChatPage.open(await browser.newContext(), baseUrl);
    const { keyboard } = chat.page;
    expect(await focusedName(chat.page)).toBe("Message");
    await keyboard.type("write a file two.txt with first");
    await keyboard.press("Shift+Enter");
    await keyboard.type("second");
    await keyboard.press("Enter");
    await chat.answers.filter({ hasText: "2 lines" }).waitFor();
    await chat.finished();
    expect(await focusedName(chat.page)).toBe("Message");
    expect(await chat.composer.inputValue()).toBe("");

    await pressUntilFocused(chat.page, "Shift+Tab", "write");
    await keyboard.press("Enter");
    await chat.tool("write").getByLabel("Result").waitFor();

    await chat.composer.focus();
    await keyboard.type("tell me a long story");
    await keyboard.press("Enter");
    await chat.chapter("1. The rock").waitFor();
    await keyboard.press("Escape");
    await chat.status("Connected").waitFor();
    expect(await focusedName(chat.page)).toBe("Message");

    await pressUntilFocused(chat.page, "Shift+Tab", "Retry");
    await keyboard.press("Enter");
    await chat.stopButton.waitFor();
  });

  it("chooses a suggestion, and returns the focus from a dialog", async () => {
    const chat = await ChatPage.open(await browser.newContext(), baseUrl);
    await pressUntilFocused(chat.page, "Shift+Tab", "Connect a model");
    await chat.page.keyboard.press("Enter");
    await chat.page.getByRole("dialog", { name: "Connect a model" }).waitFor();
    await chat.page.keyboard.press("Escape");
    await chat.page.getByRole("dialog", { name: "Connect a model" }).waitFor({ state: "hidden" });
    expect(await focusedName(chat.page)).toBe("Connect a model");

    await pressUntilFocused(chat.page, "Shift+Tab", "Look around");
    await chat.page.keyboard.press("Enter");
    await chat.answers.filter({ hasText: "is empty" }).waitFor();
    expect(await focusedName(chat.page)).toBe("Message");
  });

  it("keeps a draft while an answer runs, and does not send it twice", async () => {
    const chat = await ChatPage.open(await browser.newContext(), baseUrl);
    await chat.send("tell me a long story");
    await chat.chapter("1. The rock").waitFor();
    await chat.page.keyboard.type("list files");
    await chat.page.keyboard.press("Enter");
    expect(await chat.composer.inputValue()).toBe("list files");
    await chat.page.getByText("Your draft waits; Esc stops the answer").waitFor();
    await chat.page.keyboard.press("Escape");
    await chat.sendButton.waitFor();
    expect(await chat.composer.inputValue()).toBe("list files");
    await chat.page.keyboard.press("Enter");
    await chat.answers.filter({ hasText: "is empty" }).waitFor();
    expect(await chat.requests.count()).toBe(2);
  });
});

describe("on a phone", () => {
  it("says that a draft waits, and starts what is typed next on a line of its own", async () => {
    const chat = await ChatPage.open(await browser.newContext(PHONE), baseUrl);
    await chat.send("tell me a long story");
    await chat.chapter("1. The rock").waitFor();
    await chat.composer.pressSequentially("list files");
    const hint = chat.page.getByText("Your draft waits");
    expect(await hint.isVisible()).toBe(false);
    await chat.composer.press("Enter");
    await hint.waitFor();
    await chat.composer.pressSequentially("help");
    expect(await chat.composer.inputValue()).toBe("list files\nhelp");
  });

  it("never scrolls sideways, whatever is in the chat", async () => {
    const chat = await ChatPage.open(await browser.newContext(PHONE), baseUrl);
    const overflow = (): Promise<number> =>
      chat.page.evaluate(() => {
        const column = document.querySelector(".column");
        const inner = column === null ? 0 : column.scrollWidth - column.clientWidth;
        return Math.max(inner, document.documentElement.scrollWidth - document.documentElement.clientWidth);
      });
    expect(await overflow()).toBe(0);
    await chat.ask("help");
    expect(await overflow()).toBe(0);
    await chat.ask(`write a file wide.txt with ${"x".repeat(400)} and then read it back`);
    await chat.tool("write").locator("summary").click();
    await chat.tool("read").locator("summary").click();
    expect(await overflow()).toBe(0);
    await chat.send("fail");
    await chat.alert.waitFor();
    expect(await overflow()).toBe(0);
  });

  it("keeps the list of chats in a drawer", async () => {
    const chat = await ChatPage.open(await browser.newContext(PHONE), baseUrl);
    await chat.ask("hello");
    await chat.page.getByRole("button", { name: "Chats" }).tap();
    const drawer = chat.page.getByRole("dialog", { name: "Chats" });
    await drawer.getByRole("button", { name: "New chat" }).tap();
    await chat.welcome.waitFor();
    expect(await drawer.isVisible()).toBe(false);
  });

  it("has buttons large enough for a thumb", async () => {
    const chat = await ChatPage.open(await browser.newContext(PHONE), baseUrl);
    await chat.ask("list files");
    const small = await chat.page.evaluate(() =>
      [...document.querySelectorAll("button, summary")]
        .map((element) => ({
          name: element.getAttribute("aria-label") ?? element.textContent,
          box: element.getBoundingClientRect()
        }))
        .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < 24))
        .map(({ name }) => name)
    );
    expect(small).toEqual([]);
  });
});

describe("light and dark", () => {
  it("follows the system", async () => {
    const dark = await ChatPage.open(await browser.newContext({ colorScheme: "dark" }), baseUrl);
    const light = await ChatPage.open(await browser.newContext({ colorScheme: "light" }), baseUrl);
    expect(lightness(await background(dark.page))).toBeLessThan(60);
    expect(lightness(await background(light.page))).toBeGreaterThan(200);
  });

  it("remembers a choice over a reload", async () => {
    const chat = await ChatPage.open(await browser.newContext({ colorScheme: "light" }), baseUrl);
    await chat.page.locator(".app-sidebar").getByText("Dark", { exact: true }).click();
    expect(lightness(await background(chat.page))).toBeLessThan(60);
    await chat.reload();
    expect(lightness(await background(chat.page))).toBeLessThan(60);
    expect(await chat.page.locator(".app-sidebar").getByRole("radio", { name: "Dark" }).isChecked()).toBe(
      true
    );
  });
});

describe("reading", () => {
  it("follows the newest line, and leaves a reader who scrolled up alone", async () => {
    const chat = await ChatPage.open(
      await browser.newContext({ viewport: { width: 900, height: 420 } }),
      baseUrl
    );
    const viewport = chat.page.getByRole("region", { name: "Conversation" });
    const distance = (): Promise<number> =>
      viewport.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
    await chat.send("tell me a long story");
    await chat.chapter("3. The storm").waitFor();
    await expect.poll(distance).toBeLessThan(64);

    await viewport.hover();
    await chat.page.mouse.wheel(0, -600);
    const newest = chat.page.getByRole("button", { name: "Newest" });
    await newest.waitFor();
    const place = await viewport.evaluate((element) => element.scrollTop);
    await chat.chapter("4. The dark").waitFor({ state: "attached" });
    expect(await viewport.evaluate((element) => element.scrollTop)).toBe(place);

    await newest.click();
    await expect.poll(distance).toBeLessThan(64);
    await newest.waitFor({ state: "detached" });
  });

  it("gives every control a name, and announces the finished answer", async () => {
    const chat = await ChatPage.open(await browser.newContext(), baseUrl);
    await chat.ask("hello");
    const nameless = await chat.page.evaluate(() =>
      [...document.querySelectorAll("button, textarea, input, dialog, nav, summary")]
        .filter((element) => {
          const labels = element instanceof HTMLInputElement ? (element.labels?.[0]?.textContent ?? "") : "";
          return (
            `${element.getAttribute("aria-label") ?? ""}${element.textContent ?? ""}${labels}`.trim() === ""
          );
        })
        .map((element) => element.outerHTML)
    );
    expect(nameless).toEqual([]);
    await chat.page.getByRole("status").filter({ hasText: "Hello! I am the offline model" }).waitFor();
  });
});
