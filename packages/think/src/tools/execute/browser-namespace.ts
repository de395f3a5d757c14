/**
 * A browser as the namespace `cdp` of the sandbox: the Agents SDK's connector. Making it opens nothing; a browser is started by the first
 * call of the code. Which session a pass uses is kept in the object's storage, so that it survives a pause.
 */
import type { CodemodeConnector } from "@cloudflare/codemode";
import {
  BrowserConnector,
  DurableBrowserSessionStore,
  type BrowserBinding,
  type BrowserConnectorSessionOptions
} from "agents/browser";

export interface BrowserNamespace {
  /** A Browser Rendering binding: code gets `cdp.*`. */
  readonly browser?: BrowserBinding | undefined;
  /** How long a browser is kept. Default: `{ mode: "dynamic" }`. */
  readonly session?: BrowserConnectorSessionOptions | undefined;
  /** Also the time limit of one command. */
  readonly timeout?: number | undefined;
}

export function browserConnectors(ctx: DurableObjectState, options: BrowserNamespace): CodemodeConnector[] {
  const { browser, session = { mode: "dynamic" }, timeout } = options;
  if (!browser) return [];
  const store = new DurableBrowserSessionStore(ctx.storage);
  const limits = timeout === undefined ? {} : { timeout };
  return [new BrowserConnector(ctx, { browser, store, session, ...limits })];
}
