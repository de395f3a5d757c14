/**
 * What follows the rows of a tree: the search index and the summaries. Told inside the transaction that changes the rows, so that they
 * change with them or not at all.
 */
import type { UIMessage } from "ai";
import type { MessageLink } from "./message-store";

export interface TreeObserver {
  /** A message was stored, as new or with new content. */
  stored(message: UIMessage): void;
  /** A message is about to be taken out; `childTowards` says which of its children leads to a later message. */
  removing(link: MessageLink, childTowards: (laterId: string) => string | null): void;
  /** The content and the children of a message are those of a copy now; the message itself begins anew. */
  copied(id: string, copyId: string): void;
  /** The session has no messages any more. */
  cleared(): void;
}

/** Tells several observers, in order. */
export function observers(list: readonly TreeObserver[]): TreeObserver {
  return {
    stored: (message) => list.forEach((observer) => observer.stored(message)),
    removing: (link, childTowards) => list.forEach((observer) => observer.removing(link, childTowards)),
    copied: (id, copyId) => list.forEach((observer) => observer.copied(id, copyId)),
    cleared: () => list.forEach((observer) => observer.cleared())
  };
}
