/** The list of chats in the sidebar: names and titles, newest first, kept in this browser only. */
import { load, save } from "@cloudflare/think-example-kit/page";
import { useSyncExternalStore } from "react";

const KEY = "assistant:chats";
/** Older chats leave the list; they stay reachable by their address. */
const MAXIMUM_CHATS = 40;

export interface RecentChat {
  readonly id: string;
  readonly title: string;
}

const listeners = new Set<() => void>();
let chats: readonly RecentChat[] = read();

export function useRecentChats(): readonly RecentChat[] {
  return useSyncExternalStore(subscribe, () => chats);
}

/** Puts a chat on the list, or gives it a new title. A chat without a title is not worth listing. */
export function rememberChat(id: string, title: string): void {
  const known = chats.find((chat) => chat.id === id);
  if (title === "" || known?.title === title) return;
  update(
    known === undefined
      ? [{ id, title }, ...chats].slice(0, MAXIMUM_CHATS)
      : chats.map((chat) => (chat.id === id ? { id, title } : chat))
  );
}

function update(next: readonly RecentChat[]): void {
  chats = next;
  save(KEY, JSON.stringify(next));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  const follow = (event: StorageEvent): void => {
    if (event.key !== KEY) return;
    chats = read();
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", follow);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", follow);
  };
}

function read(): readonly RecentChat[] {
  try {
    const stored: unknown = JSON.parse(load(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRecentChat).slice(0, MAXIMUM_CHATS) : [];
  } catch {
    return [];
  }
}

function isRecentChat(value: unknown): value is RecentChat {
  return (
    typeof value === "object" &&
    value !== null &&
    "id" in value &&
    typeof value.id === "string" &&
    "title" in value &&
    typeof value.title === "string"
  );
}
