/** One browser per test file, and a fresh profile for each test. Call it at the top of a test file. */
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, inject } from "vitest";
import { launchChromium } from "./chromium";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the global set-up serves the example, with a slash at the end. */
    readonly baseUrl: string;
    readonly chromiumPath: string;
  }
}

export interface BrowserUnderTest {
  /** A new profile: no cookies, no stored chats. Closed after the test. */
  readonly newContext: (options?: BrowserContextOptions) => Promise<BrowserContext>;
}

export function useBrowser(): BrowserUnderTest {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    browser = await launchChromium(inject("chromiumPath"));
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(() => browser?.close());

  return {
    newContext: async (options) => {
      if (browser === undefined)
        throw new Error("The browser is started in beforeAll; ask for a context in a test.");
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      contexts.push(context);
      return context;
    }
  };
}
