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
import { ClientList, type Received } from "./client-list";
import { Hydration } from "./hydration";
import { MediaEviction, type EvictionTotals, type MediaEvictionOptions } from "./media-eviction";
import { MESSAGE_LIMITS } from "../shared/limits";
import type { MessageStore } from "./message-store";
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
  /** The path from the root, whatever the byte budget. Read in pages, but all in memory at the end. */
  fullPath(): UIMessage[];
  /**
   * Takes in the list a client sent: reconciled with what is stored, unknown messages go to the leaf in order, known ones take the
   * new content in place, equal ones cost nothing.
   */
  receive(messages: readonly UIMessage[]): Received;
  /** Takes in messages from code: known ids keep their content, the others become a chain below `parentId`. */
  append(messages: readonly UIMessage[], options?: AppendOptions): Appended;
  /**
   * Stores one message as the new leaf below `parentId` (default: the current leaf), or updates it when its id is known. Returns it
   * as stored, which differs from what was given when it had to be sanitised or cut; null when nothing of it is to be stored.
   */
  put(message: UIMessage, parentId?: Parent): UIMessage | null;
  /** Updates a stored message and returns it as stored; undefined, and nothing happens, when its id is unknown. */
  update(message: UIMessage): UIMessage | undefined;
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
  readonly config: ConfigStore;
  /** Bytes of stored messages to hold in memory; zero, negative or non-finite means all. Default: 24 MiB. */
  readonly hydrationByteBudget?: () => number;
  readonly emit?: Emit;
  /** What the eviction of aged media needs. Default: it is off. */
  readonly media?: Pick<MediaEvictionOptions, "clock" | "setting" | "files">;
}

export function createConversation(options: ConversationOptions): Conversation {
  const { sql, store, config, media, emit = () => undefined } = options;
  const byteBudget = options.hydrationByteBudget ?? (() => MESSAGE_LIMITS.hydrationBytes);
  const hydration = new Hydration({ store, config, byteBudget, emit });
  const path: ActivePath = new ActivePath({
    sql,
    store,
    config,
    hydration,
    changed: () => eviction?.schedule()
  });
  const eviction = media && new MediaEviction({ ...media, path, config, emit });
  return new StoredConversation({ path, store, hydration, eviction });
}

interface Modules {
  readonly path: ActivePath;
  readonly store: MessageStore;
  readonly hydration: Hydration;
  readonly eviction: MediaEviction | undefined;
}

class StoredConversation implements Conversation {
  readonly #path: ActivePath;
  readonly #store: MessageStore;
  readonly #hydration: Hydration;
  readonly #eviction: MediaEviction | undefined;
  readonly #clientList: ClientList;

  constructor({ path, store, hydration, eviction }: Modules) {
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
    return this.messages.length > 0 && this.#path.olderId !== null;
  }

  upTo(id: string | undefined): readonly UIMessage[] {
    if (id === undefined) return this.messages;
    const inMemory = this.#path.current.upTo(id);
    if (inMemory.length > 0 || !this.windowed) return inMemory;
    return this.#hydration.window(id).rows.map(({ message }) => message);
  }

  get(id: string): UIMessage | undefined {
    return this.#path.current.get(id) ?? this.#store.get(id)?.message;
  }

  withToolCall(toolCallId: string): UIMessage | undefined {
    const holds = (message: UIMessage) =>
      message.parts.some((part) => isToolPart(part) && part.toolCallId === toolCallId);
    const inMemory = this.messages.find(holds);
    if (inMemory) return inMemory;
    for (const message of this.#path.older()) if (holds(message)) return message;
    return undefined;
  }

  fullPath(): UIMessage[] {
    return [...this.#path.newestFirst()].toReversed();
  }

  receive(messages: readonly UIMessage[]): Received {
    return this.#clientList.receive(messages);
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
