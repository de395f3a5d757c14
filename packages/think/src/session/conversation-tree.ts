/**
 * The tree behind the active path, for people and programs that look at more than one path: branches, other leaves, deletion. Reads go
 * to storage; a change is one transaction.
 */
import type { UIMessage } from "ai";
import { SESSION_LIMITS } from "../shared/limits";
import { ThinkError } from "../shared/errors/think-error";
import type { ActivePath } from "./active-path";
import type { BranchStore } from "./branch-store";
import type { Branch, Forks } from "./forks";
import type { Hydration } from "./hydration";
import type { MessageLink, MessageStore } from "./message-store";
import type { RowSize } from "./path-reader";

export interface ConversationTreeOptions {
  readonly path: ActivePath;
  readonly store: MessageStore;
  readonly hydration: Hydration;
  readonly forks: Forks;
  readonly branches: BranchStore;
}

export class ConversationTree {
  readonly #options: ConversationTreeOptions;

  constructor(options: ConversationTreeOptions) {
    this.#options = options;
  }

  /** The last message of the active path. */
  get leafId(): string | undefined {
    return this.#options.path.current.leafId;
  }

  /** The path to a message, or the active one, with summaries in place of what they stand for. Unknown messages have none. */
  history(leafId?: string): readonly UIMessage[] {
    const { path, hydration, store } = this.#options;
    const wanted = leafId ?? this.leafId;
    if (wanted === undefined) return [];
    if (wanted === this.leafId && path.olderId === null) return path.current.messages;
    return store.has(wanted) ? hydration.whole(wanted) : [];
  }

  /** What was said before a message, up to so many bytes but at least four messages, oldest first, with summaries. */
  before(id: string, maxBytes: number): readonly UIMessage[] {
    const { path, hydration } = this.#options;
    const { parentId } = this.#linkOf(path.current.rangeOf(id)?.fromId ?? id);
    return parentId === null ? [] : hydration.window(parentId, maxBytes);
  }

  /** The newest `count` stored messages of the active path, with summaries of ranges that lie wholly among them. */
  recent(count: number): { readonly messages: UIMessage[]; readonly truncated: boolean } {
    const { hydration, store } = this.#options;
    if (this.leafId === undefined) return { messages: [], truncated: false };
    const wanted = new Set<string>();
    for (const { id } of store.sizes(this.leafId)) {
      if (wanted.size >= count)
        return { messages: [...hydration.among(wanted, this.leafId)], truncated: true };
      wanted.add(id);
    }
    return { messages: [...hydration.among(wanted, this.leafId)], truncated: false };
  }

  /** Messages on the path to a message, or on the active one, summarised ones included. */
  pathLength(leafId = this.leafId): number {
    return leafId === undefined ? 0 : this.#options.hydration.measure(leafId).count;
  }

  /** Throws unless one stored message comes before another one on its path, or is the same: a summary can stand for nothing else. */
  checkRange(fromId: string, toId: string): void {
    const { store } = this.#options;
    for (const id of [fromId, toId]) if (!store.has(id)) throw notFound(id);
    for (const row of store.sizes(toId)) if (row.id === fromId) return;
    throw new ThinkError(
      `Message ${JSON.stringify(toId)} does not follow ${JSON.stringify(fromId)}. A summary stands for a part of one path, oldest message first.`,
      { code: "invalid-session" }
    );
  }

  /** Sizes along the active path, newest first, without contents. */
  sizes(): Iterable<RowSize> {
    return this.leafId === undefined ? [] : this.#options.store.sizes(this.leafId);
  }

  /** Messages of all branches. */
  count(): number {
    return this.#options.store.count();
  }

  /** What was said next, in each branch, oldest first. */
  children(id: string): UIMessage[] {
    const { path, forks } = this.#options;
    return forks.childrenOf(path.current, path.current.lastOf(id)).flatMap((child) => path.read(child) ?? []);
  }

  /** The branches that a message is one of, itself included, oldest first. */
  siblings(id: string): Branch[] {
    const { path, forks } = this.#options;
    const link = this.#linkOf(id);
    const known = new Map(forks.of(link.parentId).map((fork) => [fork.childId, fork]));
    const children = link.parentId === null ? this.#roots(id) : forks.childrenOf(path.current, link.parentId);
    const activeChild = this.#activeChild(children);
    return children.map((messageId) => ({
      messageId,
      leafId:
        messageId === activeChild
          ? (this.leafId ?? messageId)
          : (known.get(messageId)?.leafId ?? forks.leafBelow(this.#linkOf(messageId))),
      label: known.get(messageId)?.label ?? null,
      active: messageId === activeChild
    }));
  }

  /** Follows the branch that begins with, or goes through, a message, to where it was left. */
  follow(id: string): void {
    const { path, forks } = this.#options;
    const link = this.#linkOf(id);
    if (this.#isActive(id)) return;
    const leafId = forks.leafBelow(link);
    path.write(() => path.moveTo(leafId));
  }

  /** Ends the active path at a message; what followed stays as a branch. */
  endAt(id: string): void {
    const { path } = this.#options;
    this.#linkOf(id);
    path.write(() => path.moveTo(id));
  }

  /** Names the branch that begins with a message; null takes the name away. */
  label(id: string, label: string | null): void {
    const { path, branches } = this.#options;
    const link = this.#linkOf(id);
    const text = label?.trim().slice(0, SESSION_LIMITS.labelChars) ?? "";
    path.write(() => branches.label(link.parentId, id, text === "" ? null : text));
  }

  /** Takes messages out; what followed them follows what they followed. Unknown ids are no error. Returns what was removed. */
  remove(ids: readonly string[]): string[] {
    const { path } = this.#options;
    return path.write(() => path.remove(ids));
  }

  #linkOf(id: string): MessageLink {
    const link = this.#options.store.link(this.#options.path.current.lastOf(id));
    if (link) return link;
    throw notFound(id);
  }

  #roots(id: string): string[] {
    const forks = this.#options.forks.of(null).map(({ childId }) => childId);
    if (forks.length === 0) return [id];
    const times = new Map(forks.map((root) => [root, this.#linkOf(root).createdAt]));
    return forks.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0) || (a < b ? -1 : 1));
  }

  #isActive(id: string): boolean {
    const { path, store } = this.#options;
    if (path.current.get(id)) return true;
    if (this.leafId === undefined || (path.olderId === null && !path.current.hasSummary)) return false;
    for (const row of store.sizes(this.leafId)) if (row.id === id) return true;
    return false;
  }

  #activeChild(children: readonly string[]): string | undefined {
    return children.find((id) => this.#isActive(id));
  }
}

function notFound(id: string): ThinkError {
  return new ThinkError(
    `There is no message ${JSON.stringify(id)} in this session. Ids are those of getMessages().`,
    { code: "message-not-found" }
  );
}
