/** One open chat: header, conversation, composer. Owns where the focus goes. */
import {
  Announcer,
  Composer,
  type ComposerHandle,
  Conversation,
  ErrorBanner,
  chatTitle,
  messageText,
  useConversation,
  useStopOnEscape,
  Welcome
} from "@cloudflare/think-example-kit/page";
import { useEffect, useRef } from "react";
import type { ModelInfo } from "../shared/model-info";
import { ChatHeader } from "./chat-header";
import { ModelBanner } from "./model-banner";
import { rememberChat } from "./recent-chats";
import { SUGGESTIONS } from "./suggestions";

const WELCOME = {
  title: "What are we working on?",
  text: "Every chat has its own files and a shell. Answers survive a reload, a crash and a closed laptop.",
  suggestions: SUGGESTIONS
} as const;

interface ChatProperties {
  readonly chatId: string;
  readonly model: ModelInfo | undefined;
  readonly onConnectModel: () => void;
  readonly onOpenMenu: () => void;
  readonly onNewChat: () => void;
}

export function Chat({ chatId, model, onConnectModel, onOpenMenu, onNewChat }: ChatProperties) {
  const chat = useConversation({ agent: "Assistant", name: chatId });
  const composer = useRef<ComposerHandle>(null);
  const { busy, stop } = chat;
  const firstRequest = chat.messages.find((message) => message.role === "user");
  const title = firstRequest === undefined ? "" : chatTitle(messageText(firstRequest));

  useEffect(() => rememberChat(chatId, title), [chatId, title]);
  useEffect(() => {
    document.title = title === "" ? "Assistant" : `${title} · Assistant`;
  }, [title]);

  const stopAndReturn = (): void => {
    stop();
    composer.current?.focus();
  };
  useStopOnEscape(busy, stopAndReturn);

  const send = (text: string): void => {
    chat.send(text);
    composer.current?.focus();
  };

  return (
    <div className="chat">
      <ChatHeader
        title={title}
        activity={chat.activity}
        canClear={chat.messages.length > 0}
        onOpenMenu={onOpenMenu}
        onNewChat={onNewChat}
        onClear={() => {
          chat.clear();
          composer.current?.focus();
        }}
      />
      <Conversation
        messages={chat.messages}
        stopped={chat.stopped}
        activity={chat.activity}
        busy={busy}
        empty={<Welcome {...WELCOME} onSuggest={send} />}
        onRetry={chat.retry}
      />
      <div className="dock">
        {chat.error !== undefined && (
          <ErrorBanner message={chat.error.message} onRetry={chat.retry} onDismiss={chat.dismissError} />
        )}
        {model?.kind === "offline" && <ModelBanner onConnect={onConnectModel} />}
        <Composer ref={composer} busy={busy} onSend={send} onStop={stopAndReturn} />
      </div>
      <Announcer messages={chat.messages} activity={chat.activity} />
    </div>
  );
}
