/**
 * Work on whole sessions that need not be the active one: reading, copying, removing, exporting, importing. Every operation that writes
 * is one transaction. Used by the agent's named sessions and by the session manager.
 */
import type { UIMessage } from "ai";
import type { Ids } from "../shared/clock";
import { ThinkError } from "../shared/errors/think-error";
import type { ConfigStore } from "../storage/config-store";
import type { Sql } from "../storage/sql";
import { BranchStore } from "./branch-store";
import type { CompactionStore } from "./compaction/compaction-store";
import type { ContextArchive } from "./context-archive";
import { AgentContextProvider } from "./context/agent-context-provider";
import { createConversation, type Conversation } from "./conversation";
import { forkSession } from "./fork-session";
import { createMessageStore, type MessageStore } from "./message-store";
import { SearchIndex, type IndexedSessions } from "./search-index";
import { contextKey } from "./session-parts";
import type { SessionStore } from "./session-store";
import { parseDocument } from "./transfer/document";
import { exportSession, type AttachmentReader } from "./transfer/export-session";
import { importSession } from "./transfer/import-session";

/** Files that messages refer to. */
export interface ArchiveFiles extends AttachmentReader {
  write(path: string, content: string): Promise<void>;
}

export interface SessionArchiveOptions {
  readonly sql: Sql;
  readonly now: () => number;
  readonly ids: Ids;
  readonly config: ConfigStore;
  readonly sessions: SessionStore;
  readonly compactions: CompactionStore;
  readonly context: ContextArchive;
  /** Shared with the search indexes of open sessions. Default: none of them can be meant. */
  readonly indexed?: IndexedSessions;
  /** Undefined for a host without a workspace. */
  readonly files: () => ArchiveFiles | undefined;
}

export class SessionArchive {
  readonly #options: SessionArchiveOptions;

  constructor(options: SessionArchiveOptions) {
    this.#options = options;
  }

  /** A session that is not the active one; the active one has a conversation already. Of a large one the newest part is in memory. */
  open(id: string): Conversation {
    const { sql, sessions, config, compactions } = this.#options;
    return createConversation({
      ...{ sql, sessions, config, scope: { id }, store: this.#store(id) },
      summaries: () => compactions.list(id)
    });
  }

  remove(id: string): void {
    const { sql, sessions, compactions, context, indexed } = this.#options;
    sql.transaction(() => {
      this.#store(id).clear();
      new BranchStore(sql, { id }).clear();
      new SearchIndex(sql, { id }, indexed).cleared();
      compactions.clear(id);
      context.remove(id);
      sessions.remove(id);
    });
  }

  /** Copies the path to a message into a new session and returns its id. */
  fork(id: string, messageId: string, name: string): string {
    const { sql, ids, sessions } = this.#options;
    const path = this.open(id).tree.history(messageId);
    if (path.length === 0)
      throw new ThinkError(
        `There is no message ${JSON.stringify(messageId)} in this session. Ids are those of getMessages().`,
        { code: "message-not-found" }
      );
    const forkId = ids.next();
    const session = { id: forkId, name, parentSessionId: id };
    forkSession(path, session, { sql, ids, sessions, store: this.#store(forkId) });
    return forkId;
  }

  /** Ends a session and begins a new one that knows of it by a summary. Returns the new id. */
  split(id: string, summary: string, name: string): string {
    const { sql, ids, sessions } = this.#options;
    const [newId, before] = [ids.next(), sessions.get(id)];
    const parent = { parentSessionId: id, model: before?.model ?? null, source: before?.source ?? null };
    sql.transaction(() => {
      sessions.end(id, "compaction");
      const session = { id: newId, name, ...parent };
      // The id is given when it is copied.
      const message: UIMessage = { id: "", role: "assistant", parts: [{ type: "text", text: summary }] };
      forkSession([message], session, { sql, ids, sessions, store: this.#store(newId) });
    });
    return newId;
  }

  /** Messages of all branches. */
  count(id: string): number {
    return this.#store(id).count();
  }

  /** The session as one JSON document, in pieces. */
  async *export(id: string): AsyncGenerator<string> {
    const { sql, sessions, compactions, context, files } = this.#options;
    // Reading the path adopts a session of the published package.
    const { messages, tree } = this.open(id);
    const info = sessions.get(id);
    if (!info || (messages.length === 0 && tree.leafId !== undefined))
      throw new ThinkError(`Session not found: ${JSON.stringify(id)}. There is nothing to export.`, {
        code: "session-not-found"
      });
    yield* exportSession({
      ...{ info, leafId: tree.leafId ?? null, store: this.#store(id) },
      branches: new BranchStore(sql, { id }),
      compactions: compactions.list(id),
      context: context.list(id),
      attachments: files()
    });
  }

  /** Stores a document as a new session and returns its id. */
  async import(input: unknown): Promise<string> {
    const { sql, ids, sessions, compactions, files } = this.#options;
    const document = parseDocument(input);
    const id = ids.next();
    for (const { path, content } of document.attachments) await files()?.write(path, content);
    importSession(document, {
      ...{ sql, sessionId: id, sessions, compactions, store: this.#store(id) },
      branches: new BranchStore(sql, { id })
    });
    for (const { label, content } of document.context) {
      await new AgentContextProvider(sql, contextKey(label, id)).set(content);
    }
    return id;
  }

  #store(id: string): MessageStore {
    const { sql, now } = this.#options;
    return createMessageStore({ sql, now, scope: { id } });
  }
}
