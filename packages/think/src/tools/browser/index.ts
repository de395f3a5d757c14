export { createBrowserRuntime, createBrowserTools, createQuickActionTools } from "./browser-tools";
export type {
  BrowserRuntime,
  CreateBrowserToolsOptions,
  CreateQuickActionToolsOptions,
  QuickActionToolName
} from "agents/browser/ai";
export {
  browserContent,
  browserExtract,
  browserLinks,
  browserMarkdown,
  browserPdf,
  browserScrape,
  browserScreenshot,
  browserSnapshot,
  type BrowserBinding,
  type BrowserConnectorSessionOptions,
  type BrowserSessionStore,
  type QuickActionBinding,
  type QuickActionCommonOptions
} from "agents/browser";
