/**
 * The part of the class that users extend which deals with sessions, branches and search: one-line delegations, kept apart because they
 * are many. `Think` extends it; nobody else does.
 */
import { Agent } from "agents";
import type { UIMessage } from "ai";
import type { Modules } from "./compose";
import type { Branch } from "./session/forks";
import type { SearchResult } from "./session/search-index";
import type { SessionInfo } from "./session/session-store";
import { byteStream, collectExport } from "./session/transfer/export-session";
import { publicId } from "./sessions/named-sessions";
import { MESSAGE_LIMITS, SESSION_LIMITS } from "./shared/limits";

/** Where the modules are found; a symbol, so that no subclass can collide with it. */
export const MODULES: unique symbol = Symbol("modules");

export abstract class ThinkSessions<
  Env extends Cloudflare.Env = Cloudflare.Env,
  State = unknown,
  Props extends object = object
> extends Agent<Env, State, Props> {
  /** @internal */
  abstract [MODULES](): Pick<Modules, "sessions" | "conversation" | "search">;

  /** Makes a new, empty session and switches to it. Refused while a turn runs. */
  async createSession(name?: string): Promise<SessionInfo> {
    return this[MODULES]().sessions.create(name);
  }

  /** Makes another session the active one, tells every client, and returns its messages. Refused while a turn runs. */
  async switchSession(sessionId: string): Promise<UIMessage[]> {
    return this[MODULES]().sessions.switchTo(sessionId);
  }

  /** Every session; the one that changed last comes first. */
  async getSessions(): Promise<SessionInfo[]> {
    return this[MODULES]().sessions.list();
  }

  /** The active session; null before the first message, and after it was deleted. */
  async getSession(): Promise<SessionInfo | null> {
    return this[MODULES]().sessions.current();
  }

  /** Id of the active session; null before the first message, and after it was deleted. */
  async getCurrentSessionId(): Promise<string | null> {
    return this[MODULES]().sessions.currentId();
  }

  /** Gives a session another name. */
  async renameSession(sessionId: string, name: string): Promise<void> {
    this[MODULES]().sessions.rename(sessionId, name);
  }

  /** Deletes a session with its messages, summaries and context blocks. Refused for the active one while a turn runs. */
  async deleteSession(sessionId: string): Promise<void> {
    return this[MODULES]().sessions.delete(sessionId);
  }

  /** Copies the conversation up to a message into a new session and returns it. The active session stays. */
  async forkSession(messageId: string, name: string): Promise<SessionInfo> {
    return this[MODULES]().sessions.fork(messageId, name);
  }

  /** A session (default: the active one) as one JSON document, attachments included. */
  async exportSession(sessionId?: string): Promise<string> {
    return collectExport(this[MODULES]().sessions.export(sessionId));
  }

  /** The same as UTF-8 bytes, piece by piece, for sessions of any size. */
  async exportSessionStream(sessionId?: string): Promise<ReadableStream<Uint8Array>> {
    return byteStream(this[MODULES]().sessions.export(sessionId));
  }

  /** Stores an exported document as a new session and returns it. The active session stays. */
  async importSession(document: string): Promise<SessionInfo> {
    return this[MODULES]().sessions.import(document);
  }

  /**
   * The whole conversation from the root, or the path to a message of another branch, with summaries in place. Refused beyond 48 MiB: use
   * `getMessagesBefore()` then.
   */
  async getHistory(leafId?: string): Promise<UIMessage[]> {
    return [...this[MODULES]().conversation.tree.history(leafId)];
  }

  /**
   * The messages before one, oldest first: what `messages` does not hold of a large conversation, page by page. At least four if there are
   * so many, and more up to `maxBytes` of stored JSON (default 1 MiB, at most 24 MiB). Empty before the first message.
   */
  async getMessagesBefore(
    messageId: string,
    options: { readonly maxBytes?: number } = {}
  ): Promise<UIMessage[]> {
    const { olderPageBytes, hydrationBytes } = MESSAGE_LIMITS;
    const maxBytes = Math.min(options.maxBytes ?? olderPageBytes, hydrationBytes);
    return [...this[MODULES]().conversation.tree.before(messageId, maxBytes)];
  }

  /** Messages of the active session: on the active path, and in all branches together. */
  async getMessageCount(): Promise<{ path: number; total: number }> {
    const { tree } = this[MODULES]().conversation;
    return { path: tree.pathLength(), total: tree.count() };
  }

  /** The branches that a message is one of, oldest first; itself included, also when it is the only one. */
  async getBranches(messageId: string): Promise<Branch[]> {
    return this[MODULES]().conversation.tree.siblings(messageId);
  }

  /** Follows the branch that begins with a message, to where it was left, and tells every client. Refused while a turn runs. */
  async switchBranch(messageId: string): Promise<UIMessage[]> {
    return this[MODULES]().sessions.moveTo((tree) => tree.follow(messageId));
  }

  /** Ends the conversation at a message; what followed stays as a branch. Refused while a turn runs. */
  async setActiveLeaf(messageId: string): Promise<UIMessage[]> {
    return this[MODULES]().sessions.moveTo((tree) => tree.endAt(messageId));
  }

  /** Names the branch that begins with a message; null takes the name away. */
  async labelBranch(messageId: string, label: string | null): Promise<void> {
    this[MODULES]().conversation.tree.label(messageId, label);
  }

  /** Deletes messages; what followed them follows what they followed. Refused while a turn runs. Returns the ids that were deleted. */
  async deleteMessages(messageIds: readonly string[]): Promise<string[]> {
    return this[MODULES]().sessions.remove(messageIds);
  }

  /** Messages of the active session in which every word of the query occurs; best first, 20 at most unless said otherwise. */
  async searchMessages(query: string, options: { readonly limit?: number } = {}): Promise<SearchResult[]> {
    const found = this[MODULES]().search.search(query, options.limit ?? SESSION_LIMITS.searchDefault);
    return found.map((result) => ({ ...result, sessionId: publicId(result.sessionId) }));
  }
}
