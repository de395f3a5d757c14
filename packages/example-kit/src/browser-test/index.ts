export { type BrowserUnderTest, useBrowser } from "./browser";
export { ChatPage, newChatId } from "./chat-page";
export { findChromium, launchChromium } from "./chromium";
export { buildExample, type Server, type ServerOptions, startServer } from "./server";
