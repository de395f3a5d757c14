/**
 * The two generations of the stock client behind one small face. Each tab loads a copy of the chat hook's module of its
 * own, because the module caches histories for as long as a page lives, and two tabs are two pages.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { useAgent as useCurrentAgent } from "agents/react";
import {
  chatHookFile as oldHookFile,
  useAgent as useOldAgent,
  type ChatHooks as OldHooks
} from "@cloudflare/think-client-tests-old";

/** A message as a page shows it. */
export interface PageMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly PagePart[];
}

/** A part of a message; which fields there are depends on the type. */
export interface PagePart {
  readonly type: string;
  readonly text?: string;
  readonly state?: string;
  readonly toolCallId?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly approval?: { readonly id: string; readonly approved?: boolean };
}

/** What the hooks give a page, as far as the tests look at it. */
export interface ChatView {
  /** Whether the server has greeted this page: then the first message list has arrived, too. */
  readonly isConnected: boolean;
  readonly messages: readonly PageMessage[];
  readonly status: "submitted" | "streaming" | "ready" | "error";
  readonly error: Error | undefined;
  readonly isStreaming: boolean;
  readonly isServerStreaming: boolean;
  readonly isRecovering: boolean;
  readonly sendMessage: (message: { readonly text: string }) => Promise<void>;
  readonly regenerate: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly clearHistory: () => void;
  readonly addToolApprovalResponse: (answer: { readonly id: string; readonly approved: boolean }) => void;
}

/** How a request ended, as the current client tells its page. */
export interface TurnEnd {
  readonly messageIds?: readonly string[];
  readonly outcome: string;
  readonly replay: boolean;
}

/** What a page wants from its chat. */
export interface PageOptions {
  readonly host: string;
  /** Name of the conversation. */
  readonly name: string;
  /** Runs the page's own tool and gives its output. */
  readonly locate: () => Promise<unknown>;
  /** Told by the current client how each request ended. */
  readonly onTurnEnd: (end: TurnEnd) => void;
  /** Sees every frame that is not the chat's. */
  readonly onMessage: (event: MessageEvent) => void;
}

/** A client generation: gives each tab a hook of its own. */
export interface Client {
  readonly name: string;
  /** Whether pages are told how requests end. */
  readonly tellsEnds: boolean;
  /** Whether a page that asked and was offline at the end of the answer shows half of it until it is reloaded. */
  readonly keepsHalfAnswers: boolean;
  readonly load: (tab: number) => Promise<(options: PageOptions) => ChatView>;
}

/** Reconnecting waits seconds by default, so that a crowd of pages spreads out; one page need not. */
const RECONNECT = { minReconnectionDelay: 20, maxReconnectionDelay: 50 };

/** `@cloudflare/ai-chat` 0.12.2, which re-exports the hook of `agents` 0.32.0, on AI SDK 7. */
export const currentClient: Client = {
  name: "0.12.2",
  keepsHalfAnswers: false,
  tellsEnds: true,
  async load(tab) {
    const file = createRequire(import.meta.url).resolve("agents/chat/react");
    const { useAgentChat } = await copyOf<typeof import("agents/chat/react")>(file, tab);
    return ({ host, name, locate, onMessage, onTurnEnd }) => {
      const agent = useCurrentAgent({ agent: "Chat", name, host, onMessage, ...RECONNECT });
      const chat = useAgentChat({
        agent,
        onTurnEnd,
        tools: { locate: { ...LOCATE, execute: locate } },
        onToolCall: async ({ toolCall: { toolName, toolCallId }, addToolOutput }) => {
          if (toolName === "locate") addToolOutput({ toolCallId, output: await locate() });
        }
      });
      return { ...chat, isConnected: agent.identified };
    };
  }
};

/** `@cloudflare/ai-chat` 0.8.6 with `agents` 0.16.2, on AI SDK 6. */
export const oldClient: Client = {
  name: "0.8.6",
  keepsHalfAnswers: true,
  tellsEnds: false,
  async load(tab) {
    const { useAgentChat } = await copyOf<OldHooks>(oldHookFile, tab);
    return ({ host, name, locate, onMessage }) => {
      const agent = useOldAgent({ agent: "Chat", name, host, onMessage, ...RECONNECT });
      const chat = useAgentChat({
        agent,
        tools: { locate: { ...LOCATE, execute: locate } },
        onToolCall: async ({ toolCall: { toolName, toolCallId }, addToolOutput }) => {
          if (toolName === "locate") addToolOutput({ toolCallId, output: await locate() });
        }
      });
      return { ...chat, isConnected: agent.identified };
    };
  }
};

/** The tool that runs in the page; the model learns of it from each request. */
const LOCATE = {
  description: "Where the user is.",
  parameters: { type: "object", properties: { precise: { type: "boolean" } } }
} as const;

/** Node takes addresses that differ in the query for different modules. */
async function copyOf<Module>(file: string, tab: number): Promise<Module> {
  return await import(`${pathToFileURL(file).href}?tab=${tab}`);
}
