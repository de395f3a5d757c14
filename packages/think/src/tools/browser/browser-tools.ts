/**
 * The browser tools of the Agents SDK under our subpath. That package marks its factories as deprecated; here their names stay, whatever it
 * calls them later. Nothing is added, and making the tools touches neither binding nor storage nor network.
 */
import {
  createBrowserRuntime as createRuntime,
  createQuickActionTools as createQuickActions,
  type BrowserRuntime,
  type CreateBrowserToolsOptions,
  type CreateQuickActionToolsOptions
} from "agents/browser/ai";
import type { ToolSet } from "ai";

/**
 * Creates `browser_execute` and, with a binding, the quick actions `browser_markdown`, `browser_extract`, `browser_links` and
 * `browser_scrape`. Throws when there is neither `browser` nor `cdpUrl`, and outside of an agent without `ctx`.
 */
export function createBrowserTools(options: CreateBrowserToolsOptions): ToolSet {
  return createRuntime(options).tools;
}

/** The tools with what host code needs besides: the runtime (approvals, past runs) and the connector (browser sessions). */
export function createBrowserRuntime(options: CreateBrowserToolsOptions): BrowserRuntime {
  return createRuntime(options);
}

/** Only the quick actions: one request each, no code, no Worker Loader. Results are cut at `maxChars` (50,000; 0: never). */
export function createQuickActionTools(options: CreateQuickActionToolsOptions): ToolSet {
  return createQuickActions(options);
}
