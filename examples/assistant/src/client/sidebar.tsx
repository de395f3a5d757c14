/** The list of chats, the theme, and which model answers. Shown beside the chat, or in a drawer on a phone. */
import { Icon, Logo, ThemeSwitch } from "@cloudflare/think-example-kit/page";
import type { ModelInfo } from "../shared/model-info";
import { useRecentChats } from "./recent-chats";

interface SidebarProperties {
  readonly chatId: string;
  readonly model: ModelInfo | undefined;
  readonly onOpenChat: (chatId: string) => void;
  readonly onNewChat: () => void;
}

export function Sidebar({ chatId, model, onOpenChat, onNewChat }: SidebarProperties) {
  const chats = useRecentChats();
  return (
    <aside className="sidebar">
      <p className="brand">
        <Logo />
        Assistant
      </p>
      <button type="button" className="button-new" onClick={onNewChat}>
        <Icon name="plus" />
        New chat
      </button>
      <nav className="chats" aria-label="Recent chats">
        {chats.length > 0 && <h2>Recent</h2>}
        <ul>
          {chats.map((chat) => (
            <li key={chat.id}>
              <button
                type="button"
                className="chat-link"
                aria-current={chat.id === chatId ? "page" : undefined}
                onClick={() => onOpenChat(chat.id)}
              >
                {chat.title}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <footer className="sidebar-foot">
        {model !== undefined && (
          <p className="model-label">
            <span className="model-dot" data-kind={model.kind} />
            {model.label}
          </p>
        )}
        <ThemeSwitch />
      </footer>
    </aside>
  );
}
