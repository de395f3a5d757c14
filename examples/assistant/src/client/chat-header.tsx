/** Title, status, and the actions that concern the whole chat. */
import {
  Dialog,
  type DialogHandle,
  Icon,
  StatusBar,
  type Activity
} from "@cloudflare/think-example-kit/page";
import { useRef } from "react";

interface ChatHeaderProperties {
  readonly title: string;
  readonly activity: Activity;
  readonly canClear: boolean;
  readonly onOpenMenu: () => void;
  readonly onNewChat: () => void;
  readonly onClear: () => void;
}

export function ChatHeader({
  title,
  activity,
  canClear,
  onOpenMenu,
  onNewChat,
  onClear
}: ChatHeaderProperties) {
  const confirmation = useRef<DialogHandle>(null);
  return (
    <header className="chat-header">
      <button type="button" className="button-icon only-narrow" aria-label="Chats" onClick={onOpenMenu}>
        <Icon name="menu" />
      </button>
      <h1>{title === "" ? "New chat" : title}</h1>
      <StatusBar activity={activity} />
      <button type="button" className="button-icon only-narrow" aria-label="New chat" onClick={onNewChat}>
        <Icon name="plus" />
      </button>
      <button
        type="button"
        className="button-icon"
        aria-label="Clear conversation"
        title="Clear conversation"
        disabled={!canClear}
        onClick={() => confirmation.current?.open()}
      >
        <Icon name="trash" />
      </button>
      <Dialog ref={confirmation} label="Clear conversation?" className="dialog-small">
        <h2>Clear this conversation?</h2>
        <p>All messages go, here and in every tab that shows this chat. Files in the workspace stay.</p>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={() => confirmation.current?.close()}>
            Keep
          </button>
          <button
            type="button"
            className="button button-danger"
            onClick={() => {
              confirmation.current?.close();
              onClear();
            }}
          >
            Clear
          </button>
        </div>
      </Dialog>
    </header>
  );
}
