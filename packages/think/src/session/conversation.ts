/**
 * The conversation as the rest of the package sees it: the active path in memory, and the ways messages come into it. Every read of
 * a warm turn is served from memory; every write goes through here, so that unchanged messages are never written again.
 *
 * I1. `messages` is the path to the active leaf, in order, from the root or from where the memory budget ends; ids on it are unique.
 * I2. The stored leaf pointer names the last message of the path (or nothing when it is empty).
 * I3. A write is one transaction: content and leaf pointer change together. When it fails, memory is read anew.
 * I4. Every stored message has been sanitised and fits its row.
 */
import type { UIMessage } from "ai";
import type { Emit } from "../observability/events";
import type { ConfigStore } from "../storage/config-store";
import type { Sql } from "../storage/sql";
import { ActivePath, type Parent } from "./active-path";
import { BranchStore } from "./branch-store";
import { ClientList, type ReceiveOptions, type Received } from "./client-list";
import { ConversationTree } from "./conversation-tree";
import { Forks } from "./forks";
import type { StoredCompaction } from "./compaction/overlay";
import { Hydration } from "./hydration";
import { MediaEviction, type EvictionTotals, type MediaEvictionOptions } from "./media-eviction";
import { MESSAGE_LIMITS } from "../shared/limits";
import type { MessageStore } from "./message-store";
import type { SessionScope } from "./path-reader";
import type { SessionStore } from "./session-store";
import { observers, type TreeObserver } from "./tree-observer";
import { isToolPart } from "./parts";
import { prepareMessage } from "./sanitize";

export interface AppendOptions {
  /** The first new message goes below this one; `null` makes it a new root. Default: the current leaf. */
  readonly parentId?: Parent;
}

export interface Appended {
  /** How many messages are new. */
  readonly added: number;
  /** Each message as it is stored now, those that were known before included. */
  readonly messages: readonly UIMessage[];
}

export interface Conversation {
  /** The live path. Callers outside the package get copies. */
  readonly messages: readonly UIMessage[];
  /** Whether stored messages of the path are not in memory, because they are beyond the byte budget. */
  readonly windowed: boolean;
  /** The path up to and including a message, for a turn that branches there; the whole path when `id` is undefined. */
  upTo(id: string | undefined): readonly UIMessage[];
  /** A stored message, in memory or not, of any branch. */
  get(id: string): UIMessage | undefined;
  /** The message of the path that holds a tool call, in memory or not. */
  withToolCall(toolCallId: string): UIMessage | undefined;
  /** The whole path, newest first, whatever the byte budget. Read in pages as it is walked. */
  newestFirst(): Iterable<UIMessage>;
  /**
   * Takes in the list a client sent: reconciled with what is stored, unknown messages go to the leaf in order, known ones take the
   * new content in place, equal ones cost nothing.
   */
  receive(messages: readonly UIMessage[], options?: ReceiveOptions): Received;
  /** Takes in messages from code: known ids keep their content, the others become a chain below `parentId`. */
  append(messages: readonly UIMessage[], options?: AppendOptions): Appended;
  /**
   * Stores one message as the new leaf below `parentId` (default: the current leaf), or updates it when its id is known. Returns it
   * as stored, which differs from what was given when it had to be sanitised or cut; null when nothing of it is to be stored.
   */
  put(message: UIMessage, parentId?: Parent): UIMessage | null;
  /** Updates a stored message and returns it as stored; undefined, and nothing happens, when its id is unknown. */
  update(message: UIMessage): UIMessage | undefined;
  /** The tree that the path is part of: branches, deletion, other leaves. */
  readonly tree: ConversationTree;
  /** Reads the path anew from storage. */
  reload(): readonly UIMessage[];
  /** Forgets everything, durably. */
  clear(): void;
  /** One pass of the media eviction, which otherwise runs by itself. Null when it is off or not possible now. */
  evictMedia(): Promise<EvictionTotals | null>;
}

export interface ConversationOptions {
  readonly sql: Sql;
  readonly store: MessageStore;
  readonly sessions: SessionStore;
  readonly config: ConfigStore;
  /** Which session is meant, asked at each use. Default: the primary one. Call `reload` when it changes. */
  readonly scope?: SessionScope;
  /** Summaries that stand for ranges of the path, oldest first. Default: none. */
  readonly summaries?: () => readonly StoredCompaction[];
  /** Who else follows the rows. */
  readonly observers?: readonly TreeObserver[];
  /** Called when messages that were on the path are not any more, unless it was cleared. */
  readonly branched?: () => void;
  /** Called when a write failed: what was read in it may be wrong. */
  readonly rolledBack?: () => void;
  /** Bytes of stored messages to hold in memory; zero, negative or non-finite means all. Default: 24 MiB. */
  readonly hydrationByteBudget?: () => number;
  readonly emit?: Emit;
  /** What the eviction of aged media needs. Default: it is off. */
  readonly media?: Pick<MediaEvictionOptions, "clock" | "setting" | "files">;
}

export function createConversation(options: ConversationOptions): Conversation {
  const { sql, store, sessions, config, media, emit = () => undefined, scope = { id: "" } } = options;
  const byteBudget = options.hydrationByteBudget ?? (() => MESSAGE_LIMITS.hydrationBytes);
  const branches = new BranchStore(sql, scope);
  const forks = new Forks(store, branches);
  const hydration = new Hydration({
    ...{ store, sessions, branches, scope, byteBudget, emit },
    summaries: options.summaries ?? (() => [])
  });
  const path: ActivePath = new ActivePath({
    ...{ sql, store, hydration, forks },
    observer: observers(options.observers ?? []),
    forgotten: () => {
      config.refresh();
      options.rolledBack?.();
    },
    changed: () => eviction?.schedule(),
    branched: options.branched ?? (() => undefined)
  });
  const eviction = media && new MediaEviction({ ...media, path, config, scope, emit });
  const tree = new ConversationTree({ path, store, hydration, forks, branches });
  return new StoredConversation({ path, store, hydration, tree, eviction });
}

interface Modules {
  readonly path: ActivePath;
  readonly store: MessageStore;
  readonly hydration: Hydration;
  readonly tree: ConversationTree;
  readonly eviction: MediaEviction | undefined;
}

class StoredConversation implements Conversation {
  readonly tree: ConversationTree;
  readonly #path: ActivePath;
  readonly #store: MessageStore;
  readonly #hydration: Hydration;
  readonly #eviction: MediaEviction | undefined;
  readonly #clientList: ClientList;

  constructor({ path, store, hydration, tree, eviction }: Modules) {
    this.tree = tree;
    this.#path = path;
    this.#store = store;
    this.#hydration = hydration;
    this.#eviction = eviction;
    this.#clientList = new ClientList(path, store);
  }

  get messages(): readonly UIMessage[] {
    return this.#path.current.messages;
  }

  get windowed(): boolean {
    return this.messages.length > 0 && (this.#path.olderId !== null || this.#path.current.hasSummary);
  }

  upTo(id: string | undefined): readonly UIMessage[] {
    if (id === undefined) return this.messages;
    const inMemory = this.#path.current.upTo(id);
    if (inMemory.length > 0 || !this.windowed) return inMemory;
    return this.#hydration.window(id);
  }

  get(id: string): UIMessage | undefined {
    return this.#path.current.get(id) ?? this.#store.get(id)?.message;
  }

  withToolCall(toolCallId: string): UIMessage | undefined {
    const holds = (message: UIMessage) =>
      message.parts.some((part) => isToolPart(part) && part.toolCallId === toolCallId);
    for (const message of this.#path.newestFirst()) if (holds(message)) return message;
    return undefined;
  }

  newestFirst(): Iterable<UIMessage> {
    return this.#path.newestFirst();
  }

  receive(messages: readonly UIMessage[], options?: ReceiveOptions): Received {
    return this.#clientList.receive(messages, options);
  }

  append(messages: readonly UIMessage[], { parentId }: AppendOptions = {}): Appended {
    const prepared = messages.flatMap((message) => prepareMessage(message) ?? []);
    return this.#path.write(() => {
      let added = 0;
      const stored = prepared.map((message) => {
        const known = this.#path.current.get(message.id);
        if (known) return known;
        const inserted = this.#path.insert(message, added === 0 ? parentId : undefined);
        if (inserted) added += 1;
        return inserted ?? this.get(message.id) ?? message;
      });
      return { added, messages: stored };
    });
  }

  put(message: UIMessage, parentId?: Parent): UIMessage | null {
    const prepared = prepareMessage(message);
    if (!prepared) return null;
    return this.#path.write(() => {
      const known = this.#path.current.get(message.id);
      const inserted = known ? undefined : this.#path.insert(prepared, parentId);
      return inserted ?? this.#path.replace(known ?? this.get(message.id), prepared).message;
    });
  }

  update(message: UIMessage): UIMessage | undefined {
    const stored = this.get(message.id);
    const prepared = stored && prepareMessage(message);
    return prepared ? this.#path.write(() => this.#path.replace(stored, prepared).message) : stored;
  }

  reload(): readonly UIMessage[] {
    this.#clientList.forget();
    this.#path.forget();
    return this.messages;
  }

  clear(): void {
    this.#clientList.forget();
    this.#path.write(() => this.#path.clear());
  }

  async evictMedia(): Promise<EvictionTotals | null> {
    return this.#eviction?.run() ?? null;
  }
}
