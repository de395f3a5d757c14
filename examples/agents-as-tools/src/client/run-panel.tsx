/** A researcher's own chat, reached through the lead: its conversation, live, and a place to ask on. */
import {
  Composer,
  type ComposerHandle,
  Conversation,
  ErrorBanner,
  Icon,
  StatusBar,
  useConversation
} from "@cloudflare/think-example-kit/page";
import { useRef } from "react";
import { type OpenRun, titled } from "./runs";

interface RunPanelProperties {
  readonly run: OpenRun;
  readonly onClose: () => void;
}

export function RunPanel({ run, onClose }: RunPanelProperties) {
  const chat = useConversation({
    agent: "Lead",
    name: run.chatId,
    sub: [{ agent: run.agent, name: run.runId }]
  });
  const composer = useRef<ComposerHandle>(null);
  return (
    <div className="chat">
      <header className="chat-header">
        <h2>
          Researcher <span>{titled(run.topic)}</span>
        </h2>
        <StatusBar activity={chat.activity} />
        <button
          type="button"
          className="button-icon"
          aria-label="Close"
          title="Back to the desk"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <Conversation
        messages={chat.messages}
        stopped={chat.stopped}
        activity={chat.activity}
        busy={chat.busy}
        empty={<p className="loading">This researcher has not said anything yet.</p>}
      />
      <div className="dock">
        {chat.error !== undefined && (
          <ErrorBanner message={chat.error.message} onRetry={chat.retry} onDismiss={chat.dismissError} />
        )}
        <Composer
          ref={composer}
          busy={chat.busy}
          onSend={chat.send}
          onStop={chat.stop}
          placeholder="Ask this researcher…"
        />
      </div>
    </div>
  );
}
