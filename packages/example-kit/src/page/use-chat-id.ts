/**
 * Which chat is open. The address bar is the truth (`#chat-…`), so a link or a reload stays in the same chat;
 * without a hash the last chat is opened again, and the first visit starts a new one.
 */
import { useCallback, useEffect, useState } from "react";
import { load, save } from "./storage";

const LAST_CHAT = "think-example:last-chat";
/** Chat names become part of an address and of an object's name: short and plain. */
const VALID_NAME = /^[\w-]{1,64}$/;

export interface ChatId {
  readonly chatId: string;
  readonly openChat: (chatId: string) => void;
  readonly newChat: () => void;
}

export function useChatId(): ChatId {
  const [chatId, setChatId] = useState(() => fromHash() ?? validName(load(LAST_CHAT)) ?? createName());

  useEffect(() => {
    save(LAST_CHAT, chatId);
    if (fromHash() !== chatId) history.replaceState(null, "", `#${chatId}`);
  }, [chatId]);

  useEffect(() => {
    const follow = (): void => setChatId((current) => fromHash() ?? current);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  const openChat = useCallback((name: string) => {
    // Through the address bar, so that the back button returns to the previous chat.
    location.hash = name;
  }, []);
  const newChat = useCallback(() => openChat(createName()), [openChat]);

  return { chatId, openChat, newChat };
}

function fromHash(): string | undefined {
  return validName(location.hash.slice(1));
}

function validName(name: string | undefined): string | undefined {
  return name !== undefined && VALID_NAME.test(name) ? name : undefined;
}

function createName(): string {
  // `randomUUID` exists only in secure contexts; a phone on the local network has none.
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `chat-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
