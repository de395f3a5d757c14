/**
 * Takes in the message list that a client uploads with every request. Called by the conversation.
 *
 * I1. A message that is stored as it was sent costs no row read and none written, on the second upload also when it is not in memory.
 * I2. Nothing is deleted: what the list lacks stays stored.
 */
import type { UIMessage } from "ai";
import type { ActivePath } from "./active-path";
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

export class ClientList {
  readonly #path: ActivePath;
  readonly #store: MessageStore;
  /** Messages that clients repeat although they are not in memory: the hash of what was last taken in, by id. */
  readonly #taken = new Map<string, string>();

  constructor(path: ActivePath, store: MessageStore) {
    this.#path = path;
    this.#store = store;
  }

  receive(messages: readonly UIMessage[]): Received {
    const incoming = messages.flatMap((message) => prepareMessage(message) ?? []);
    const news = incoming.filter((message) => !this.#isRepeated(message));
    const path = this.#path.current;
    const reconciled = reconcile(news, {
      get: (id) => path.get(id) ?? this.#outside(id),
      newestFirst: () => this.#path.newestFirst(),
      claimed: this.#taken.keys()
    });
    const elsewhere = new Set<string>();
    const written = this.#path.write(
      () => reconciled.filter((message) => this.#save(message, elsewhere)).length
    );
    for (const message of news) if (elsewhere.has(message.id)) this.#taken.set(message.id, hashOf(message));
    const last = incoming.at(-1);
    return { written, lastId: last && this.#taken.has(last.id) ? last.id : reconciled.at(-1)?.id };
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
    return this.#path.olderId === null ? undefined : this.#store.get(id)?.message;
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
