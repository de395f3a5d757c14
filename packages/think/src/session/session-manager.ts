/**
 * Many named sessions in one database, without an agent around them: for any object with an `sql` tag. All of them have the settings of
 * the manager's chain. It has no active session: every call names the one it means.
 *
 * I1. There is one `Session` per id, so that its memory is what is stored. Do not use a session of a manager that another manager, or
 *     an agent, writes to at the same time.
 * I2. Whatever changes the messages of a session changes its `updated_at`; what changes nothing writes nothing.
 * I3. An id that nobody created, and that has no messages, is refused before anything is written.
 */
import type { ToolSet, UIMessage } from "ai";
import { ThinkError } from "../shared/errors/think-error";
import { jsonEqual } from "../shared/json";
import { SESSION_LIMITS } from "../shared/limits";
import { createConfigStore } from "../storage/config-store";
import type { Sql } from "../storage/sql";
import { createCompactionStore } from "./compaction/compaction-store";
import type { StoredCompaction } from "./compaction/overlay";
import { ContextArchive } from "./context-archive";
import { SearchIndex, type IndexedSessions, type SearchResult } from "./search-index";
import type { Session } from "./session";
import { SessionArchive } from "./session-archive";
import { SessionChain } from "./session-chain";
import {
  checkAmounts,
  checkNotes,
  checkRoom,
  checkSessionName,
  checkSummary,
  sessionNotFound
} from "./session-rules";
import { searchableHistory, sessionSearchTools, type SearchableSessions } from "./session-search";
import {
  openStored,
  sourceOf,
  type OpenedSession,
  type SessionHost,
  type SessionSource
} from "./session-source";
import { SessionStore, type SessionInfo } from "./session-store";
import { byteStream, collectExport } from "./transfer/export-session";

/** What may be said of a new session. */
export interface CreateSessionOptions {
  /** The session it comes from. Default: none. */
  readonly parentSessionId?: string;
  /** The model it is held with, for the caller's own use. */
  readonly model?: string;
  /** Where it comes from, for the caller's own use. */
  readonly source?: string;
}

type DatabaseSource = SessionSource & { readonly sql: Sql };

export class SessionManager extends SessionChain {
  readonly #source: DatabaseSource;
  readonly #sessions: SessionStore;
  readonly #archive: SessionArchive;
  readonly #indexed: IndexedSessions = new Set();
  readonly #search: SearchIndex;
  readonly #opened = new Map<string, OpenedSession>();
  readonly #searchable: SearchableSessions = {
    search: (query, options) => this.search(query, options),
    nameOf: (id) => this.#sessions.get(id)?.name ?? id
  };

  /** @internal Use `SessionManager.create(host)`. */
  constructor(source: DatabaseSource) {
    super();
    const { sql, clock, ids } = source;
    const now = () => clock.now();
    this.#source = source;
    this.#sessions = new SessionStore(sql, now);
    this.#search = new SearchIndex(sql, { id: "" }, this.#indexed);
    this.#archive = new SessionArchive({
      ...{ sql, now, ids, config: createConfigStore(sql), sessions: this.#sessions, indexed: this.#indexed },
      compactions: createCompactionStore(sql),
      context: new ContextArchive(sql, () => this.durableLabels()),
      files: () => undefined
    });
  }

  /** Sessions in the database of an agent, or of anything with its `sql` tag. */
  static create(host: SessionHost): SessionManager {
    const source = sourceOf(host);
    const { sql } = source;
    if (sql) return new SessionManager({ ...source, sql });
    throw new ThinkError("SessionManager.create() needs an agent, or an object with its sql tag.", {
      code: "invalid-session"
    });
  }

  /** Adds a block through which the model searches all sessions, as text. It cannot be written. */
  withSearchableHistory(label: string): this {
    const provider = searchableHistory(this.#searchable);
    return this.withContext(label, { description: "What was said in all conversations", provider });
  }

  /** The session of an id, always the same object: context blocks, prompt, compaction and everything else. */
  getSession(sessionId: string): Session {
    this.#existing(sessionId);
    return this.#open(sessionId);
  }

  create(name: string, options: CreateSessionOptions = {}): SessionInfo {
    const checked = checkSessionName(name);
    const { parentSessionId, model, source } = options;
    checkNotes({ model, source });
    if (parentSessionId !== undefined) this.#existing(parentSessionId);
    checkRoom(this.#sessions, "delete()");
    const id = this.#source.ids.next();
    this.#sessions.create({
      ...{ id, name: checked, parentSessionId: parentSessionId ?? null },
      ...{ model: model ?? null, source: source ?? null }
    });
    return this.#info(id);
  }

  get(sessionId: string): SessionInfo | null {
    return this.#exists(sessionId) ? this.#info(sessionId) : null;
  }

  /** The one that changed last comes first. */
  list(): SessionInfo[] {
    return this.#sessions.list();
  }

  rename(sessionId: string, name: string): void {
    const checked = checkSessionName(name);
    this.#existing(sessionId);
    this.#sessions.rename(sessionId, checked);
  }

  /** Deletes a session with its messages, branches, summaries, index, context blocks and prompt. */
  async delete(sessionId: string): Promise<void> {
    this.#existing(sessionId);
    this.#archive.remove(sessionId);
    this.forgetSession(sessionId);
    this.#opened.delete(sessionId);
  }

  /** Stores a message below the latest leaf, below `parentId`, or with `null` as a new root. A known id keeps its content. */
  async append(sessionId: string, message: UIMessage, parentId?: string | null): Promise<void> {
    await this.getSession(sessionId).appendMessage(message, parentId);
  }

  /** Stores several, each below the one before it, all or none. */
  async appendAll(
    sessionId: string,
    messages: readonly UIMessage[],
    parentId?: string | null
  ): Promise<void> {
    await this.getSession(sessionId).appendMessages(messages, parentId);
  }

  /** Replaces the content of a message, or appends it when its id is new. */
  async upsert(sessionId: string, message: UIMessage, parentId?: string | null): Promise<void> {
    const session = this.getSession(sessionId);
    const before = session.getMessage(message.id);
    if (!before) return session.appendMessage(message, parentId);
    const updated = session.updateMessage(message);
    if (!jsonEqual(session.getMessage(message.id), before)) this.#sessions.touch(sessionId);
    return updated;
  }

  /** The path to a leaf (default: the active one), oldest first, with summaries in place of what they stand for. */
  getHistory(sessionId: string, leafId?: string | null): UIMessage[] {
    return this.getSession(sessionId).getHistory(leafId);
  }

  /** Messages of the active path, those behind summaries included. */
  getMessageCount(sessionId: string): number {
    return this.getSession(sessionId).getPathLength();
  }

  /** Messages of all branches. */
  getTotalMessageCount(sessionId: string): number {
    this.#existing(sessionId);
    return this.#archive.count(sessionId);
  }

  /** Deletes the conversation; the session and its context blocks stay. */
  async clearMessages(sessionId: string): Promise<void> {
    await this.getSession(sessionId).clearMessages();
  }

  /** Deletes messages; what followed them follows what they followed. Unknown ids are ignored. */
  async deleteMessages(sessionId: string, ids: readonly string[]): Promise<void> {
    await this.getSession(sessionId).deleteMessages(ids);
  }

  /** What was said next, in each branch, oldest first. */
  getBranches(sessionId: string, messageId: string): UIMessage[] {
    return this.getSession(sessionId).getBranches(messageId);
  }

  /** Copies the path to a message into a new session: with new ids, and with summaries as ordinary messages. */
  async fork(sessionId: string, atMessageId: string, name: string): Promise<SessionInfo> {
    const checked = checkSessionName(name);
    this.#existing(sessionId);
    return this.#info(this.#archive.fork(sessionId, atMessageId, checked));
  }

  /** Puts a summary in the place of a range of messages, both ends included. The messages stay stored. */
  addCompaction(
    sessionId: string,
    summary: string,
    fromMessageId: string,
    toMessageId: string
  ): StoredCompaction {
    const text = checkSummary(summary);
    this.#existing(sessionId);
    const stored = this.#stored(sessionId).provider.addCompaction(text, fromMessageId, toMessageId);
    this.#sessions.touch(sessionId);
    return stored;
  }

  /** Oldest first. */
  getCompactions(sessionId: string): readonly StoredCompaction[] {
    return this.getSession(sessionId).getCompactions();
  }

  /**
   * Ends a session for the reason `compaction` and begins a new one below it, whose only message is the summary. Context blocks stay with
   * the old one. `name` defaults to that of the old one.
   */
  async compactAndSplit(sessionId: string, summary: string, name?: string): Promise<SessionInfo> {
    const text = checkSummary(summary);
    this.#existing(sessionId);
    const checked = checkSessionName(name ?? this.#info(sessionId).name);
    return this.#info(this.#archive.split(sessionId, text, checked));
  }

  /** Adds to the tokens and the cost (in the caller's currency) of a session. */
  addUsage(sessionId: string, inputTokens: number, outputTokens: number, cost: number): void {
    checkAmounts([inputTokens, outputTokens, cost]);
    this.#existing(sessionId);
    this.#sessions.addUsage(sessionId, inputTokens, outputTokens, cost);
  }

  /** Messages of all sessions in which every word occurs, best first. A query without words finds nothing. */
  search(query: string, options: { readonly limit?: number } = {}): SearchResult[] {
    const ids = this.#sessions.list().map(({ id }) => id);
    return this.#search.search(query, options.limit ?? SESSION_LIMITS.searchDefault, ids);
  }

  /** A session as one JSON document. Throws `export-too-large` beyond 32 Mi characters: use the stream then. */
  async exportSession(sessionId: string): Promise<string> {
    this.#existing(sessionId);
    return collectExport(this.#archive.export(sessionId));
  }

  /** The same as UTF-8 bytes, piece by piece, for sessions of any size. */
  exportSessionStream(sessionId: string): ReadableStream<Uint8Array> {
    this.#existing(sessionId);
    return byteStream(this.#archive.export(sessionId));
  }

  /** Stores an exported document as a new session, all of it or nothing. */
  async importSession(document: string): Promise<SessionInfo> {
    return this.#info(await this.#archive.import(document));
  }

  /** `session_search{query}` for a model: the ten best messages of all sessions, as text. */
  tools(): ToolSet {
    return sessionSearchTools(this.#searchable);
  }

  #open(sessionId: string): Session {
    return this.configured(sessionId, () => ({
      ...this.#source,
      ...{ sessionId, canChoose: false },
      open: () => this.#stored(sessionId)
    }));
  }

  #stored(sessionId: string): OpenedSession {
    const known = this.#opened.get(sessionId);
    if (known) return known;
    const opened = openStored({ ...this.#source, indexed: this.#indexed }, sessionId);
    this.#opened.set(sessionId, opened);
    return opened;
  }

  #info(sessionId: string): SessionInfo {
    const info = this.#sessions.get(sessionId);
    if (!info) throw sessionNotFound(sessionId, "list()");
    return info;
  }

  #existing(sessionId: string): void {
    if (!this.#exists(sessionId)) throw sessionNotFound(sessionId, "list()");
  }

  /** A session of the published package may have messages and no row; reading its path makes one. */
  #exists(sessionId: string): boolean {
    if (typeof sessionId !== "string" || sessionId.length > SESSION_LIMITS.idChars) return false;
    if (this.#opened.has(sessionId) || this.#sessions.get(sessionId)) return true;
    return this.#archive.leafOf(sessionId) !== undefined;
  }
}
