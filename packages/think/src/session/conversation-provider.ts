/**
 * A conversation as the storage of a `Session`: what an agent's own session, and one that is made with `Session.create(agent)`, stand on.
 */
import type { UIMessage } from "ai";
import type { Ids } from "../shared/clock";
import type { CompactionStore } from "./compaction/compaction-store";
import type { StoredCompaction } from "./compaction/overlay";
import type { Conversation } from "./conversation";
import type { SessionScope } from "./path-reader";
import type { SearchIndex, SearchResult } from "./search-index";
import type { HistoryRowStats, RecentHistory, SessionProvider } from "./session-provider";

export interface ConversationProviderOptions {
  readonly scope: SessionScope;
  readonly conversation: Conversation;
  readonly compactions: CompactionStore;
  readonly search: SearchIndex;
  readonly ids: Ids;
  readonly now: () => number;
}

export class ConversationProvider implements SessionProvider {
  readonly #options: ConversationProviderOptions;

  constructor(options: ConversationProviderOptions) {
    this.#options = options;
  }

  getMessage(id: string): UIMessage | null {
    return this.#options.conversation.get(id) ?? null;
  }

  getHistory(leafId?: string | null): UIMessage[] {
    return [...this.#options.conversation.tree.history(leafId ?? undefined)];
  }

  getLoadedHistory(): readonly UIMessage[] {
    return this.#options.conversation.messages;
  }

  getLatestLeaf(): UIMessage | null {
    const { conversation } = this.#options;
    const { leafId } = conversation.tree;
    return (leafId === undefined ? undefined : conversation.get(leafId)) ?? null;
  }

  getBranches(messageId: string): UIMessage[] {
    return this.#options.conversation.tree.children(messageId);
  }

  getPathLength(leafId?: string | null): number {
    return this.#options.conversation.tree.pathLength(leafId ?? undefined);
  }

  appendMessage(message: UIMessage, parentId?: string | null): boolean {
    return this.appendMessages([message], parentId) > 0;
  }

  appendMessages(messages: readonly UIMessage[], parentId?: string | null): number {
    const options = parentId === undefined ? {} : { parentId };
    return this.#options.conversation.append(messages, options).added;
  }

  updateMessage(message: UIMessage): void {
    this.#options.conversation.update(message);
  }

  deleteMessages(ids: readonly string[]): void {
    this.#options.conversation.tree.remove(ids);
  }

  clearMessages(): void {
    this.#options.conversation.clear();
  }

  addCompaction(summary: string, fromMessageId: string, toMessageId: string): StoredCompaction {
    const { compactions, scope, ids, now, conversation } = this.#options;
    conversation.tree.checkRange(fromMessageId, toMessageId);
    const compaction = { id: ids.next(), summary, fromMessageId, toMessageId, createdAt: now() };
    compactions.add(scope.id, compaction);
    conversation.reload();
    return compaction;
  }

  getCompactions(): readonly StoredCompaction[] {
    const { compactions, scope } = this.#options;
    return compactions.list(scope.id);
  }

  deleteCompaction(id: string): void {
    const { compactions, scope, conversation } = this.#options;
    compactions.remove(scope.id, id);
    conversation.reload();
  }

  searchMessages(query: string, limit: number): SearchResult[] {
    return this.#options.search.search(query, limit);
  }

  getRecentHistory(maxBytes: number, minRecent: number): RecentHistory {
    const { tree } = this.#options.conversation;
    let total = 0;
    let room = maxBytes;
    let kept = 0;
    let open = true;
    for (const { bytes } of tree.sizes()) {
      total += bytes;
      open &&= kept < minRecent || bytes <= room;
      if (!open) continue;
      room -= bytes;
      kept += 1;
    }
    return { ...tree.recent(kept), totalContentBytes: total };
  }

  getHistoryRowStats(): HistoryRowStats[] {
    const rows = [...this.#options.conversation.tree.sizes()];
    return rows.toReversed().map(({ id, role, bytes }) => ({ id, role, bytes }));
  }
}
