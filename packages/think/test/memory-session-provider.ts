/** A `SessionProvider` that is a plain map: what the contract is run against besides SQLite, and an example of a provider of one's own. */
import type { UIMessage } from "ai";
import {
  applyOverlays,
  type HistoryRowStats,
  type RecentHistory,
  type SearchResult,
  type SessionProvider,
  type StoredCompaction
} from "@cloudflare/think/session";

const bytesOf = (message: UIMessage) => new TextEncoder().encode(JSON.stringify(message)).byteLength;

interface Row {
  readonly parentId: string | null;
  readonly message: UIMessage;
}

export class MemorySessionProvider implements SessionProvider {
  readonly #rows = new Map<string, Row>();
  #compactions: StoredCompaction[] = [];
  #leaf: string | null = null;
  #made = 0;

  getMessage(id: string): UIMessage | null {
    return this.#rows.get(id)?.message ?? null;
  }

  getHistory(leafId?: string | null): UIMessage[] {
    return applyOverlays(this.#path(leafId ?? this.#leaf), this.#compactions);
  }

  getLatestLeaf(): UIMessage | null {
    return this.#leaf === null ? null : this.getMessage(this.#leaf);
  }

  getBranches(messageId: string): UIMessage[] {
    return this.#children(messageId).flatMap((id) => this.getMessage(id) ?? []);
  }

  getPathLength(leafId?: string | null): number {
    return this.#path(leafId ?? this.#leaf).length;
  }

  appendMessage(message: UIMessage, parentId?: string | null): boolean {
    if (this.#rows.has(message.id)) return false;
    const parent = parentId === undefined ? this.#leaf : parentId;
    this.#rows.set(message.id, {
      message,
      parentId: parent !== null && this.#rows.has(parent) ? parent : null
    });
    this.#leaf = message.id;
    return true;
  }

  updateMessage(message: UIMessage): void {
    const row = this.#rows.get(message.id);
    if (row) this.#rows.set(message.id, { ...row, message });
  }

  deleteMessages(ids: readonly string[]): void {
    for (const id of ids) {
      const row = this.#rows.get(id);
      if (!row) continue;
      for (const child of this.#children(id)) {
        const { message } = this.#rows.get(child) ?? row;
        this.#rows.set(child, { message, parentId: row.parentId });
      }
      this.#rows.delete(id);
      this.#compactions = this.#compactions.filter(
        ({ fromMessageId, toMessageId }) => fromMessageId !== id && toMessageId !== id
      );
      if (this.#leaf === id)
        this.#leaf = row.parentId ?? [...this.#rows.keys()].findLast((key) => this.#isLeaf(key)) ?? null;
    }
  }

  clearMessages(): void {
    this.#rows.clear();
    this.#compactions = [];
    this.#leaf = null;
  }

  addCompaction(summary: string, fromMessageId: string, toMessageId: string): StoredCompaction {
    this.#made += 1;
    const compaction = { id: `c${this.#made}`, summary, fromMessageId, toMessageId, createdAt: this.#made };
    this.#compactions.push(compaction);
    return compaction;
  }

  getCompactions(): readonly StoredCompaction[] {
    return this.#compactions;
  }

  deleteCompaction(id: string): void {
    this.#compactions = this.#compactions.filter((compaction) => compaction.id !== id);
  }

  searchMessages(query: string, limit: number): SearchResult[] {
    const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const words = wordsOf(query);
    if (words.length === 0 || !(limit >= 1)) return [];
    const results = [...this.#rows.values()].map(({ message: { id, role, parts } }) => ({
      ...{ id, role, sessionId: "" },
      content: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
    }));
    return results
      .filter(({ content }) => words.every((word) => wordsOf(content).includes(word)))
      .slice(0, Math.floor(limit));
  }

  getRecentHistory(maxBytes: number, minRecent: number): RecentHistory {
    const path = this.#path(this.#leaf);
    let room = maxBytes;
    let start = path.length;
    for (const message of path.toReversed()) {
      room -= bytesOf(message);
      if (path.length - start >= minRecent && !(room >= 0)) break;
      start -= 1;
    }
    return {
      messages: applyOverlays(path.slice(start), this.#compactions),
      truncated: start > 0,
      totalContentBytes: path.reduce((sum, message) => sum + bytesOf(message), 0)
    };
  }

  getHistoryRowStats(): HistoryRowStats[] {
    return this.#path(this.#leaf).map((message) => ({
      ...{ id: message.id, role: message.role, bytes: bytesOf(message) }
    }));
  }

  #path(leaf: string | null): UIMessage[] {
    const path: UIMessage[] = [];
    for (let row = this.#rows.get(leaf ?? ""); row; row = this.#rows.get(row.parentId ?? ""))
      path.push(row.message);
    return path.toReversed();
  }

  #children(parentId: string): string[] {
    return [...this.#rows].filter(([, row]) => row.parentId === parentId).map(([id]) => id);
  }

  #isLeaf(id: string): boolean {
    return this.#children(id).length === 0;
  }
}
