/** The research desk through the eyes of a person. */
import { ChatPage } from "@cloudflare/think-example-kit/browser-test";
import type { BrowserContext, Locator, Page } from "playwright-core";

export class DeskPage {
  readonly page: Page;

  private constructor(readonly lead: ChatPage) {
    this.page = lead.page;
  }

  static async open(context: BrowserContext, baseUrl: string, chatId?: string): Promise<DeskPage> {
    return new DeskPage(await ChatPage.open(context, baseUrl, chatId, ".desk > .chat"));
  }

  /** The card of a researcher in the lead's message. */
  card(topic: string): Locator {
    return this.page.getByRole("article").getByRole("region", { name: `Researcher: ${topic}` });
  }

  phase(topic: string, label: string): Locator {
    return this.card(topic).locator(".run-phase").getByText(label, { exact: true });
  }

  words(topic: string): Locator {
    return this.card(topic).locator(".run-words");
  }

  /** The tools that a researcher has used. */
  async steps(topic: string): Promise<string[]> {
    return await this.card(topic).getByRole("list", { name: "Steps" }).getByRole("listitem").allInnerTexts();
  }

  /** The panel with a researcher's own chat. */
  panel(topic: string): Locator {
    return this.page.getByRole("complementary", { name: `Researcher: ${topic}` });
  }

  async lookIn(topic: string): Promise<Locator> {
    await this.card(topic).getByRole("button", { name: "Look in" }).click();
    const panel = this.panel(topic);
    await panel.getByText(`Research: ${topic}`).waitFor();
    return panel;
  }

  get cleanUpButton(): Locator {
    return this.page.getByRole("button", { name: /^Clean up/ });
  }

  async cleanUp(): Promise<void> {
    await this.cleanUpButton.click();
    await this.page
      .getByRole("dialog", { name: "Clean up?" })
      .getByRole("button", { name: "Remove" })
      .click();
  }
}
