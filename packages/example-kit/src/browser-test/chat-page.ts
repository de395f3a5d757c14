/** The page through the eyes of a person: words and roles, not classes, wherever there is a word for it. */
import type { BrowserContext, Locator, Page } from "playwright-core";

/** Longest wait for anything on the page (milliseconds). The story alone takes forty seconds. */
const PATIENCE = 30_000;

export class ChatPage {
  readonly composer: Locator;
  readonly stopButton: Locator;
  readonly sendButton: Locator;
  readonly answers: Locator;
  readonly requests: Locator;
  readonly alert: Locator;
  readonly welcome: Locator;

  private constructor(
    readonly page: Page,
    readonly root: Locator
  ) {
    this.composer = root.getByRole("textbox", { name: "Message" });
    this.stopButton = root.getByRole("button", { name: "Stop", exact: true });
    this.sendButton = root.getByRole("button", { name: "Send" });
    this.answers = root.getByRole("article", { name: "Assistant" });
    this.requests = root.getByRole("article", { name: "You" });
    this.alert = root.getByRole("alert");
    this.welcome = root.getByRole("heading", { name: "What are we working on?" });
  }

  /** Opens a chat, a new one unless named, and waits until it is connected. `part` is the part of the page that holds it. */
  static async open(
    context: BrowserContext,
    baseUrl: string,
    chatId = newChatId(),
    part = "body"
  ): Promise<ChatPage> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const chat = new ChatPage(page, page.locator(part));
    await page.goto(`${baseUrl}#${chatId}`);
    await chat.connected();
    return chat;
  }

  /** Waits until the socket is open, whatever the chat is doing. */
  async connected(): Promise<void> {
    await this.status("Connected").or(this.status("Answering")).waitFor();
  }

  status(label: string): Locator {
    return this.root.locator(".status").getByText(label, { exact: true });
  }

  async send(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
    await this.requests
      .last()
      .filter({ hasText: text.split("\n")[0] ?? text })
      .waitFor();
  }

  /** Sends and waits for the whole answer. */
  async ask(text: string): Promise<string> {
    const before = await this.answers.count();
    await this.send(text);
    const answer = this.answers.nth(before);
    await this.finished(answer);
    return await answer.innerText();
  }

  async finished(answer: Locator = this.answers.last()): Promise<void> {
    await answer.and(this.page.locator('[aria-busy="false"]')).waitFor();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.connected();
  }

  tool(name: string): Locator {
    return this.root.locator(`details[data-tool="${name}"]`).last();
  }

  chapter(title: string): Locator {
    return this.answers.last().getByRole("heading", { name: title });
  }

  async clear(): Promise<void> {
    await this.page.getByRole("button", { name: "Clear conversation" }).click();
    await this.page.getByRole("dialog").getByRole("button", { name: "Clear", exact: true }).click();
  }
}

let chats = 0;

/** Each test talks in a chat of its own. */
export function newChatId(): string {
  chats += 1;
  return `test-${process.pid}-${chats}`;
}
