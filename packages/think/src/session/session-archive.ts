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
import { createConversation, type Conversation } from "./conversation";
import { forkSession } from "./fork-session";
import { createMessageStore, type MessageStore } from "./message-store";
import { SearchIndex, type IndexedSessions } from "./search-index";
import { checkRoom } from "./session-rules";
import type { SessionStore } from "./session-store";
import { invalidImport, parseDocument, type SessionDocument } from "./transfer/document";
import { exportSession, type AttachmentReader } from "./transfer/export-session";
import { checkMessages, importSession } from "./transfer/import-session";

/** Bytes of a window that only has to find the leaf. */
const SMALLEST_WINDOW = 1;

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
    return this.#open(id);
  }

  /** The last message of the active path; reading it adopts a session of the published package. */
  leafOf(id: string): string | undefined {
    const pointer = this.#options.sessions.pointer(id);
    return pointer === undefined ? this.#open(id, SMALLEST_WINDOW).tree.leafId : pointer?.id;
  }

  #open(id: string, byteBudget?: number): Conversation {
    const { sql, sessions, config, compactions } = this.#options;
    return createConversation({
      ...{ sql, sessions, config, scope: { id }, store: this.#store(id) },
      summaries: () => compactions.list(id),
      ...(byteBudget === undefined ? {} : { hydrationByteBudget: () => byteBudget })
    });
  }

  remove(id: string): void {
    const { sql, sessions, compactions, context, indexed } = this.#options;
    sql.transaction(() => {
      this.#store(id).clear();
      new BranchStore(sql, { id }).clear();
      new SearchIndex(sql, { id }, indexed).cleared();
      compactions.clear(id);
      context.remove(id, (other) => sessions.has(other) || !this.#store(other).isEmpty());
      sessions.remove(id);
    });
  }

  /** Copies the path to a message into a new session and returns its id. */
  fork(id: string, messageId: string, name: string): string {
    const { sql, ids, sessions } = this.#options;
    checkRoom(sessions);
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
    checkRoom(sessions);
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
    const leafId = this.leafOf(id) ?? null;
    const info = sessions.get(id);
    if (!info)
      throw new ThinkError(`Session not found: ${JSON.stringify(id)}. There is nothing to export.`, {
        code: "session-not-found"
      });
    yield* exportSession({
      ...{ info, leafId, store: this.#store(id) },
      branches: new BranchStore(sql, { id }),
      compactions: compactions.list(id),
      context: context.list(id),
      attachments: files()
    });
  }

  /** Stores a document as a new session and returns its id. */
  async import(input: unknown): Promise<string> {
    const { sql, ids, sessions, compactions, context } = this.#options;
    checkRoom(sessions);
    const document = parseDocument(input);
    checkMessages(document);
    await this.#importFiles(document);
    const id = ids.next();
    importSession(document, {
      ...{ sql, sessionId: id, sessions, compactions, store: this.#store(id) },
      branches: new BranchStore(sql, { id }),
      storeContext: (blocks) => context.store(id, blocks)
    });
    return id;
  }

  /** Before the rows: a file too many harms nobody, a missing one would. A file that another session needs is never replaced. */
  async #importFiles({ attachments }: SessionDocument): Promise<void> {
    if (attachments.length === 0) return;
    const files = this.#options.files();
    if (!files)
      throw invalidImport("it has attachments, and there is no workspace to keep them. Give the agent one");
    const missing: SessionDocument["attachments"] = [];
    for (const { path, content } of attachments) {
      const stored = await files.read(path);
      if (stored === null) missing.push({ path, content });
      else if (stored !== content)
        throw invalidImport(`the workspace has another file ${path}, which a session may refer to`);
    }
    for (const { path, content } of missing) await files.write(path, content);
  }

  #store(id: string): MessageStore {
    const { sql, now } = this.#options;
    return createMessageStore({ sql, now, scope: { id } });
  }
}
