/** The previous generation of the stock client, resolved with the packages it was published for (AI SDK 6). */
import { createRequire } from "node:module";

export { useAgent } from "agents/react";

/** The module of the chat hook. */
export type ChatHooks = typeof import("@cloudflare/ai-chat/react");

/** Where the chat hook's module lies, so that each tab can load a copy of its own. */
export const chatHookFile: string = createRequire(import.meta.url).resolve("@cloudflare/ai-chat/react");
