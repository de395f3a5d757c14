/**
 * Several named conversations in one agent, one of them active. The active one is what `messages`, turns and clients see.
 *
 * I1. The active session changes only while no turn runs or waits: a turn belongs to the session it began in, to its end.
 * I2. An agent that never uses this has one session without a name of its own, the primary one; its row is made with its first message.
 * I3. What is known of the active session outside its rows (memory, settings of its blocks) is dropped when it changes.
 * I4. A turn that was interrupted is found in its own session, whatever the stored choice says.
 */
import type { UIMessage } from "ai";
import type { Ids } from "../shared/clock";
import { ThinkError } from "../shared/errors/think-error";
import type { Conversation } from "../session/conversation";
import type { ConversationTree } from "../session/conversation-tree";
import { DEFAULT_SESSION_NAME, type SessionInfo, type SessionStore } from "../session/session-store";
import type { SessionArchive } from "../session/session-archive";
import { checkRoom, checkSessionName, sessionNotFound } from "../session/session-rules";
import type { ConfigStore } from "../storage/config-store";

/** Public id of the primary session; its rows have an empty one, as the published package writes them. */
const PRIMARY_SESSION_ID = "default";

const ACTIVE_KEY = "activeSession";

/** The session whose rows are in use; may be set here only. */
export interface ActiveScope {
  id: string;
}

export interface NamedSessionsOptions {
  readonly scope: ActiveScope;
  readonly sessions: SessionStore;
  readonly archive: SessionArchive;
  readonly conversation: Conversation;
  readonly config: ConfigStore;
  readonly ids: Ids;
  /** Whether a turn runs, waits or is to be recovered. */
  readonly isBusy: () => boolean;
  /** Makes a message of what an earlier isolate left unfinished, in the session that is about to be left. */
  readonly settle: () => void;
  /** Drops what belongs to the conversation that was active. */
  readonly left: () => void;
  /** The session in which an earlier isolate left a turn unfinished, if it did. */
  readonly interrupted: () => string | undefined;
  /** A session was deleted. */
  readonly removed: (id: string) => void;
  /** Configures the session that is active now; must not fail. */
  readonly entered: () => Promise<void>;
  /** Tells every client the active path. */
  readonly announce: () => void;
}

export class NamedSessions {
  readonly #options: NamedSessionsOptions;

  constructor(options: NamedSessionsOptions) {
    this.#options = options;
  }

  /** Chooses the session of the last life: the active one if it still exists, else the one that changed last. */
  restore(): void {
    const { scope, sessions, config, interrupted } = this.#options;
    const chosen = config.get(ACTIVE_KEY);
    const isKnown = (id: unknown): id is string => typeof id === "string" && sessions.get(id) !== undefined;
    const known = [interrupted(), chosen].find(isKnown);
    if (known !== undefined) scope.id = known;
    // An agent that never named a session has nothing to choose from.
    else if (typeof chosen === "string") scope.id = sessions.list()[0]?.id ?? "";
  }

  /** Null before the first message, and after the active session was deleted. */
  currentId(): string | null {
    const { scope, sessions } = this.#options;
    return sessions.get(scope.id) ? publicId(scope.id) : null;
  }

  current(): SessionInfo | null {
    return this.#info(this.#options.scope.id) ?? null;
  }

  /** The one that changed last comes first. */
  list(): SessionInfo[] {
    return this.#options.sessions.list().map(published);
  }

  /** The path of a session, active or not. */
  history(id: string): readonly UIMessage[] {
    const stored = this.#existing(id);
    const { scope, conversation, archive } = this.#options;
    return stored === scope.id ? conversation.messages : archive.open(stored).messages;
  }

  async create(name: string = DEFAULT_SESSION_NAME): Promise<SessionInfo> {
    this.#refuseWhenBusy("createSession()");
    const { sessions, ids } = this.#options;
    const checked = checkSessionName(name);
    checkRoom(sessions, "deleteSession()");
    const id = ids.next();
    await this.#enter(id, () => sessions.create({ id, name: checked }));
    return this.#info(id) ?? this.#unknown(id);
  }

  async switchTo(id: string): Promise<UIMessage[]> {
    const stored = this.#existing(id);
    if (stored === this.#options.scope.id) return [...this.#options.conversation.messages];
    this.#refuseWhenBusy("switchSession()");
    return this.#enter(stored, () => undefined);
  }

  /** Goes to the session of a turn that is carried on. False when there is no such session. */
  async follow(stored: string): Promise<boolean> {
    if (!this.#options.sessions.get(stored)) return false;
    await this.#enter(stored, () => undefined);
    return true;
  }

  rename(id: string, name: string): void {
    this.#options.sessions.rename(this.#existing(id), checkSessionName(name));
  }

  /** Removes a session with everything that belongs to it. When it was the active one, none is. */
  async delete(id: string): Promise<void> {
    const stored = this.#existing(id);
    const { scope, archive, ids, removed } = this.#options;
    const remove = () => {
      archive.remove(stored);
      removed(stored);
    };
    if (stored !== scope.id) return remove();
    this.#refuseWhenBusy("deleteSession()");
    // The next message begins a session of its own, not one of those that are left.
    await this.#enter(ids.next(), remove);
  }

  /** Copies the active path up to a message into a new session, which does not become active. */
  fork(messageId: string, name: string): SessionInfo {
    const { scope, archive } = this.#options;
    const id = archive.fork(scope.id, messageId, checkSessionName(name));
    return this.#info(id) ?? this.#unknown(id);
  }

  export(id: string | undefined): AsyncGenerator<string> {
    const { scope, archive } = this.#options;
    return archive.export(id === undefined ? scope.id : this.#existing(id));
  }

  /** Stores a document as a new session, which does not become active. */
  async import(document: unknown): Promise<SessionInfo> {
    const id = await this.#options.archive.import(document);
    return this.#info(id) ?? this.#unknown(id);
  }

  /** Moves the active path within its session, and tells every client. */
  moveTo(move: (tree: ConversationTree) => void): UIMessage[] {
    this.#refuseWhenBusy("Changing the active path");
    const { conversation, settle, announce } = this.#options;
    settle();
    move(conversation.tree);
    announce();
    return [...conversation.messages];
  }

  /** Deletes messages of the active session, and tells every client. */
  remove(messageIds: readonly string[]): string[] {
    let removed: string[] = [];
    this.moveTo((tree) => {
      removed = tree.remove(messageIds);
    });
    return removed;
  }

  /** Returns the messages at the moment of the change; configuring may take time, and clients need not wait for it. */
  async #enter(id: string, change: () => void): Promise<UIMessage[]> {
    const { scope, config, conversation, settle, left, entered, announce } = this.#options;
    settle();
    // What can fail comes first: memory must not be that of one session and the scope that of another.
    change();
    config.set(ACTIVE_KEY, id);
    scope.id = id;
    left();
    const messages = [...conversation.reload()];
    announce();
    await entered();
    return messages;
  }

  #existing(id: string): string {
    const stored = id === PRIMARY_SESSION_ID ? "" : id;
    return this.#options.sessions.get(stored) ? stored : this.#unknown(id);
  }

  #info(stored: string): SessionInfo | undefined {
    const info = this.#options.sessions.get(stored);
    return info && published(info);
  }

  #refuseWhenBusy(call: string): void {
    if (!this.#options.isBusy()) return;
    throw new ThinkError(
      `${call} must wait: a turn of the active session runs, waits or is about to be carried on. Call it when the turn is over; cancelAllChats() stops one that runs or waits.`,
      { code: "turn-active", retryable: true }
    );
  }

  #unknown(id: string): never {
    throw sessionNotFound(id, "getSessions()");
  }
}

/** The id that the outside knows a session by. */
export function publicId(stored: string): string {
  return stored === "" ? PRIMARY_SESSION_ID : stored;
}

function published(info: SessionInfo): SessionInfo {
  const parent = info.parent_session_id;
  return { ...info, id: publicId(info.id), parent_session_id: parent === null ? null : publicId(parent) };
}
