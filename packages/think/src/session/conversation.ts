/**
 * The active path of the conversation in memory, kept in step with the store. Every read of a warm turn is served from
 * here; every write goes through here, so that unchanged messages are never written again.
 *
 * I1. `messages` is the path from the root to the active leaf, in order; ids on it are unique.
 * I2. The stored leaf pointer names the last message of the path (or nothing when it is empty).
 * I3. A write is one transaction: content and leaf pointer change together. When it fails, memory is read anew.
 */
import type { UIMessage } from "ai";
import { jsonEqual } from "../shared/json";
import type { ConfigStore } from "../storage/config-store";
import type { Sql } from "../storage/sql";
import { MessagePath } from "./message-path";
import type { MessageStore } from "./message-store";

export interface Conversation {
  /** The live path. Callers outside the package get copies. */
  readonly messages: readonly UIMessage[];
  /** The path up to and including a message, for a turn that branches there; the whole path when `id` is undefined. */
  upTo(id: string | undefined): readonly UIMessage[];
  /**
   * Takes in messages a client or caller sent: unknown ones go to the leaf in order, known ones take the new content in place,
   * equal ones cost nothing. Returns the number of messages written.
   */
  merge(messages: readonly UIMessage[]): number;
  /** Stores one message as the new leaf below `parentId` (default: the current leaf), or updates it when its id is known. */
  put(message: UIMessage, parentId?: string): void;
  /** Forgets everything, durably. */
  clear(): void;
}

export interface ConversationOptions {
  readonly sql: Sql;
  readonly store: MessageStore;
  readonly config: ConfigStore;
}

/** Key of the leaf pointer in `think_config`. */
const LEAF = "activeLeaf";

export function createConversation({ sql, store, config }: ConversationOptions): Conversation {
  let loaded: MessagePath | undefined;

  const path = (): MessagePath => {
    if (loaded) return loaded;
    const leaf = config.get(LEAF);
    loaded = new MessagePath(typeof leaf === "string" ? store.path(leaf) : []);
    return loaded;
  };

  const write = <Result>(work: () => Result): Result => {
    try {
      return sql.transaction(work);
    } catch (error) {
      loaded = undefined;
      throw error;
    }
  };

  /** Stores one message at the leaf or in its place. Returns whether anything was written. */
  const save = (message: UIMessage): boolean => {
    const known = path().get(message.id);
    if (known) {
      if (jsonEqual(known, message)) return false;
      store.update(message);
      path().replace(message);
      return true;
    }
    // An id that exists off the path belongs to another branch; a stale client repeats it, and it stays there.
    if (!store.insert(message, path().leafId ?? null)) return false;
    path().push(message);
    return true;
  };

  const saveLeaf = () => config.set(LEAF, path().leafId);

  return {
    get messages() {
      return path().messages;
    },
    upTo: (id) => (id === undefined ? path().messages : path().upTo(id)),
    merge: (messages) =>
      write(() => {
        const written = messages.filter(save).length;
        if (written > 0) saveLeaf();
        return written;
      }),
    put: (message, parentId) =>
      write(() => {
        if (parentId !== undefined && !path().get(message.id)) path().cutAfter(parentId);
        if (save(message)) saveLeaf();
      }),
    clear: () =>
      write(() => {
        store.clear();
        loaded = new MessagePath();
        saveLeaf();
      })
  };
}
