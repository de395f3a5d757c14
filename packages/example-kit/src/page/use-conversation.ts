/**
 * A page's view of one chat: connection and conversation in one object. The only place that knows the chat hooks of
 * `agents`; components receive plain values. Suspends until the stored messages are loaded.
 */
import { useAgentChat } from "@cloudflare/ai-chat/react";
import { useAgent, type useAgentToolEvents } from "agents/react";
import type { UIMessage } from "ai";
import { useCallback, useState } from "react";
import { useObservedTurn } from "./use-observed-turn";
import { useStoppedMessages } from "./use-stopped-messages";

/** What the chat is doing, most pressing first. */
export type Activity = "connecting" | "reconnecting" | "recovering" | "waiting" | "answering" | "idle";

/** Which agent: its class, its name, and the way from there to a child. */
export interface ChatAddress {
  readonly agent: string;
  readonly name: string;
  readonly sub?: { readonly agent: string; readonly name: string }[];
}

/** What a page may do with the socket besides chatting: listen to frames and call methods. */
export type AgentConnection = Parameters<typeof useAgentToolEvents>[0]["agent"] & {
  readonly call: (method: string, args?: unknown[]) => Promise<unknown>;
};

export interface ConversationState {
  /** The socket, for what is not about the chat. */
  readonly connection: AgentConnection;
  readonly messages: readonly UIMessage[];
  /** Ids of the messages at which this tab stopped a turn. */
  readonly stopped: ReadonlySet<string>;
  readonly activity: Activity;
  /** True while a turn runs, in this tab or another one. */
  readonly busy: boolean;
  readonly error: Error | undefined;
  readonly send: (text: string) => void;
  readonly stop: () => void;
  readonly retry: () => void;
  readonly clear: () => void;
  readonly dismissError: () => void;
}

type Connection = "connecting" | "open" | "lost";

export function useConversation(address: ChatAddress): ConversationState {
  const [connection, setConnection] = useState<Connection>("connecting");
  const agent = useAgent({
    ...address,
    onOpen: useCallback(() => setConnection("open"), []),
    onClose: useCallback(() => setConnection((before) => (before === "connecting" ? before : "lost")), [])
  });
  // Think owns the transcript, so local edits are never sent back as the new truth.
  const chat = useAgentChat({ agent, syncMessagesToServer: false });
  const stopObserved = useObservedTurn(agent);
  const { clearError, clearHistory, regenerate, sendMessage, stop } = chat;
  const busy = chat.status === "submitted" || chat.isStreaming || chat.isRecovering;
  const { stopped, markStopping } = useStoppedMessages(chat.messages, busy);

  return {
    connection: agent,
    messages: chat.messages,
    stopped,
    activity: activityOf(connection, chat),
    busy,
    error: busy ? undefined : chat.error,
    send: (text) => {
      clearError();
      void sendMessage({ text });
    },
    stop: () => {
      markStopping();
      stopObserved();
      void stop();
    },
    retry: () => {
      clearError();
      void regenerate();
    },
    clear: () => {
      clearError();
      clearHistory();
    },
    dismissError: clearError
  };
}

function activityOf(connection: Connection, chat: ReturnType<typeof useAgentChat>): Activity {
  if (connection === "connecting") return "connecting";
  if (connection === "lost") return "reconnecting";
  if (chat.isRecovering) return "recovering";
  if (chat.status === "submitted") return "waiting";
  return chat.isStreaming ? "answering" : "idle";
}
