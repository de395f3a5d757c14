/**
 * Takes in the message list that a client uploads with every request. Called by the conversation.
 *
 * I1. A message that is stored as it was sent costs no row read and none written, on the second upload also when it is not in memory.
 * I2. Nothing is deleted: what the list lacks stays stored.
 */
import type { UIMessage } from "ai";
import { jsonEqual } from "../shared/json";
import type { ActivePath } from "./active-path";
import { isOriginalOf } from "./evict-media";
import type { MessageStore } from "./message-store";
import { isBehind, reconcile } from "./reconcile";
import { prepareMessage } from "./sanitize";
import { textHash } from "./text-hash";

/** What became of a list a client sent. */
export interface Received {
  /** Messages written. */
  readonly written: number;
  /** Server id of the last message of the list; undefined when the list is empty. */
  readonly lastId: string | undefined;
}

export interface ReceiveOptions {
  /**
   * Gives an id to what an edited message was before. When the list ends with an earlier message of a user in new words, the old
   * words and what followed become a branch of that id, and the path ends with the new words. Default: edited in place.
   */
  readonly copyId?: () => string;
}

export class ClientList {
  readonly #path: ActivePath;
  readonly #store: MessageStore;
  /** Messages that clients repeat although they are not in memory: the hash of what was last taken in, by id. */
  readonly #taken = new Map<string, string>();

  constructor(path: ActivePath, store: MessageStore) {
    this.#path = path;
    this.#store = store;
  }

  receive(messages: readonly UIMessage[], { copyId }: ReceiveOptions = {}): Received {
    const incoming = messages.flatMap((message) => prepareMessage(message) ?? []);
    const news = incoming.filter((message) => !this.#isRepeated(message));
    const path = this.#path.current;
    const reconciled = reconcile(news, {
      get: (id) => path.get(id) ?? this.#outside(id),
      newestFirst: () => this.#path.newestFirst(),
      claimed: this.#taken.keys()
    });
    const elsewhere = new Set<string>();
    const last = reconciled.at(-1);
    const edited = last && copyId && this.#isEdited(last) ? last : undefined;
    const written = this.#path.write(() => {
      const saved = reconciled.filter((message) => message !== edited && this.#save(message, elsewhere));
      return saved.length + (edited && copyId && this.#path.edit(edited, copyId()) ? 1 : 0);
    });
    for (const message of news) if (elsewhere.has(message.id)) this.#taken.set(message.id, hashOf(message));
    return { written, lastId: this.#lastId(messages, incoming.at(-1), last) };
  }

  /** The stored message that the list ends with. */
  #lastId(
    messages: readonly UIMessage[],
    incoming: UIMessage | undefined,
    reconciled: UIMessage | undefined
  ): string | undefined {
    const shown = messages.at(-1);
    if (shown && this.#path.current.rangeOf(shown.id)) return this.#path.current.lastOf(shown.id);
    return incoming && this.#taken.has(incoming.id) ? incoming.id : reconciled?.id;
  }

  /** Whether a list that ends with this message asks to go on from other words than were said. */
  #isEdited(message: UIMessage): boolean {
    const stored = this.#path.current.get(message.id);
    return (
      stored?.role === "user" &&
      message.role === "user" &&
      this.#path.current.leafId !== message.id &&
      !jsonEqual(stored.parts, message.parts) &&
      !isOriginalOf(message, stored)
    );
  }

  /** Must be called when stored messages may be gone. */
  forget(): void {
    this.#taken.clear();
  }

  #isRepeated(message: UIMessage): boolean {
    const taken = this.#taken.get(message.id);
    return taken !== undefined && taken === hashOf(message);
  }

  /** A message of the path that is beyond the memory window. Without a window an unknown id is new: no need to look. */
  #outside(id: string): UIMessage | undefined {
    const isWhole = this.#path.olderId === null && !this.#path.current.hasSummary;
    return isWhole ? undefined : this.#store.get(id)?.message;
  }

  /** Returns whether the message was written. Ids of messages that are stored but not in memory are noted in `elsewhere`. */
  #save(message: UIMessage, elsewhere: Set<string>): boolean {
    const known = this.#path.current.get(message.id);
    if (!known && this.#path.insert(message, undefined)) return true;
    // Not in memory and yet stored: older than the window, or of another branch, where it stays.
    if (!known) elsewhere.add(message.id);
    const stored = known ?? this.#store.get(message.id)?.message;
    return !(stored && isBehind(message, stored)) && this.#path.replace(stored, message).written;
  }
}

function hashOf(message: UIMessage): string {
  return textHash(JSON.stringify(message));
}
