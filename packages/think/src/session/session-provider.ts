/**
 * What a `Session` needs of its storage. Ours is `conversation-provider.ts`; an application may bring its own.
 */
import type { UIMessage } from "ai";
import type { StoredCompaction } from "./compaction/overlay";
import type { SearchResult } from "./search-index";

/** The newest part of a conversation. */
export interface RecentHistory {
  readonly messages: UIMessage[];
  /** Whether older messages were left out. */
  readonly truncated: boolean;
  /** UTF-8 bytes of the whole path as stored. */
  readonly totalContentBytes: number;
}

/** Size of one stored message. */
export interface HistoryRowStats {
  readonly id: string;
  readonly role: string;
  readonly bytes: number;
}

export interface SessionProvider {
  getMessage(id: string): UIMessage | null;
  /** The path to a leaf (default: the latest), oldest first, with summaries in place; unknown leaves have none. */
  getHistory(leafId?: string | null): UIMessage[];
  getLatestLeaf(): UIMessage | null;
  /** Children of a message, oldest first. */
  getBranches(messageId: string): UIMessage[];
  getPathLength(leafId?: string | null): number;
  /**
   * Stores a new message below a parent: by default below the latest leaf, with `null` as a new root. A known id is ignored. Returns
   * whether it is new; nothing returned counts as new.
   */
  appendMessage(message: UIMessage, parentId?: string | null): boolean | void;
  /** Stores several as a chain, all or none, and returns how many are new. Without it they are appended one by one. */
  appendMessages?(messages: readonly UIMessage[], parentId?: string | null): number;
  /** Replaces the content of a stored message; an unknown id is ignored. */
  updateMessage(message: UIMessage): void;
  deleteMessages(ids: readonly string[]): void;
  clearMessages(): void;
  addCompaction(summary: string, fromMessageId: string, toMessageId: string): StoredCompaction;
  getCompactions(): readonly StoredCompaction[];
  /** Without it a compaction cannot be undone. */
  deleteCompaction?(id: string): void;
  /** Without it `search` is refused. */
  searchMessages?(query: string, limit: number): SearchResult[];
  /** What of the active path is in memory, for work that must not read more. Without it the whole history is read. */
  getLoadedHistory?(): readonly UIMessage[];
  /** Without it the whole history is read. */
  getRecentHistory?(maxBytes: number, minRecent: number): RecentHistory;
  getHistoryRowStats?(): HistoryRowStats[];
}

/** Appends a chain, whatever the provider knows, and returns how many messages are new. */
export function appendAll(
  provider: SessionProvider,
  messages: readonly UIMessage[],
  parentId?: string | null
): number {
  if (provider.appendMessages) return provider.appendMessages(messages, parentId);
  let added = 0;
  for (const message of messages) {
    if (provider.appendMessage(message, added === 0 ? parentId : undefined) !== false) added += 1;
  }
  return added;
}
