/** One open chat: header, conversation, composer. Owns where the focus goes. */
import { useEffect, useRef } from "react";
import type { ModelInfo } from "../shared/model-info";
import { Announcer } from "./announcer";
import { ChatHeader } from "./chat-header";
import { Composer, type ComposerHandle } from "./composer";
import { Conversation } from "./conversation";
import { ErrorBanner } from "./error-banner";
import { chatTitle, messageText } from "./message-text";
import { ModelBanner } from "./model-banner";
import { rememberChat } from "./recent-chats";
import { useAssistant } from "./use-assistant";
import { useStopOnEscape } from "./use-stop-on-escape";

interface ChatProperties {
  readonly chatId: string;
  readonly model: ModelInfo | undefined;
  readonly onConnectModel: () => void;
  readonly onOpenMenu: () => void;
  readonly onNewChat: () => void;
}

export function Chat({ chatId, model, onConnectModel, onOpenMenu, onNewChat }: ChatProperties) {
  const chat = useAssistant(chatId);
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
        onSuggest={send}
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
