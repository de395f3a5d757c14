/**
 * Keeps account of where the tree forks. Called by the active path whenever the path is left for another one, and when messages leave
 * the tree; appending to the leaf costs nothing here.
 *
 * I1. A message with several children has a row for each (branch-store.ts).
 * I2. The fork that is left remembers its leaf at the point where old and new path part, so one row suffices however deep the fork is.
 */
import type { BranchStore, Fork } from "./branch-store";
import type { MessagePath } from "./message-path";
import type { MessageLink, MessageStore } from "./message-store";

/** One of the ways on from a message. */
export interface Branch {
  /** The message with which it begins. */
  readonly messageId: string;
  /** The message it ends with, as far as it was followed. */
  readonly leafId: string;
  readonly label: string | null;
  /** Whether the active path goes this way. */
  readonly active: boolean;
}

/** Where two paths part. */
interface Parting {
  /** The last common message; null when they have different roots. */
  readonly parentId: string | null;
  /** How the old path goes on; undefined when it ends there. */
  readonly oldChild: string | undefined;
  /** How the new path goes on; undefined when it ends there. */
  readonly newChild: string | undefined;
}

export class Forks {
  readonly #store: MessageStore;
  readonly #branches: BranchStore;

  constructor(store: MessageStore, branches: BranchStore) {
    this.#store = store;
    this.#branches = branches;
  }

  /** The old path is left for one that goes on below `parentId` with `childId` (undefined: it ends there). */
  leave(old: MessagePath, parentId: string | null, childId: string | undefined): void {
    const leafId = old.leafId;
    if (leafId === undefined) return;
    const parting = this.#parting(old, leafId, parentId, childId);
    if (parting.oldChild !== undefined) this.#branches.note(parting.parentId, parting.oldChild, leafId);
    if (parting.newChild !== undefined) this.#branches.note(parting.parentId, parting.newChild, null);
    if (parentId !== null && parting.parentId !== parentId) this.#join(parentId, childId);
  }

  /** The new path ends, or goes on, at a message of another branch, which may have gone on there already. */
  #join(parentId: string, childId: string | undefined): void {
    const known = new Set(this.of(parentId).map((fork) => fork.childId));
    const others = this.#store.childrenOf(parentId).filter((child) => child !== childId);
    for (const child of others) {
      const link = known.has(child) ? undefined : this.#store.link(child);
      if (link) this.#branches.note(parentId, child, this.leafBelow(link));
    }
    if (childId !== undefined && others.length > 0) this.joined(parentId, childId);
  }

  /** A message gets a further child. */
  joined(parentId: string | null, childId: string): void {
    this.#branches.note(parentId, childId, null);
  }

  of(parentId: string | null): Fork[] {
    return this.#branches.forks(parentId);
  }

  /** All children of a stored message, oldest first. */
  childrenOf(path: MessagePath, id: string): string[] {
    const forks = this.of(id);
    if (forks.length > 1) return this.#inOrder(forks.map(({ childId }) => childId));
    const next = path.after(id);
    if (next !== undefined) return [next];
    if (path.leafId === id) return forks.map(({ childId }) => childId);
    return this.#store.childrenOf(id);
  }

  /** The child of a message on the way to a later one; null when that does not follow it. */
  childTowards(id: string, laterId: string): string | null {
    for (const row of this.#store.sizes(laterId)) if (row.parentId === id) return row.id;
    return null;
  }

  /** Where a message's fork ends: the leaf at which it was left, or the newest one below the message. */
  leafBelow(link: MessageLink): string {
    const fork = this.of(link.parentId).find(({ childId }) => childId === link.id);
    return fork?.leafId ?? newestLeafBelow(this.#store.links(), link.id);
  }

  /** The session has no messages any more. */
  clear(): void {
    this.#branches.clear();
  }

  /** Takes a message out of the tree: its children hang below its parent. */
  splice(path: MessagePath, { id, parentId }: MessageLink): void {
    const children = this.childrenOf(path, id);
    const own = this.of(parentId).find(({ childId }) => childId === id);
    const below = new Map(this.of(id).map((fork) => [fork.childId, fork]));
    this.#branches.splice(id, parentId);
    for (const child of children) {
      this.#store.reparent(child, parentId);
      const leafId = below.get(child)?.leafId ?? own?.leafId ?? null;
      if (own || below.has(child)) this.#branches.note(parentId, child, leafId);
    }
    this.#store.remove(id);
  }

  /** A copy takes over a message's children and its place on the path that is left. */
  replaceByCopy(path: MessagePath, { id, parentId }: MessageLink, copyId: string): void {
    const leafId = path.leafId ?? id;
    for (const child of this.childrenOf(path, id)) this.#store.reparent(child, copyId);
    this.#branches.moveForks(id, copyId);
    this.#branches.note(parentId, copyId, leafId);
    this.#branches.note(parentId, id, null);
  }

  #parting(old: MessagePath, leafId: string, parentId: string | null, childId: string | undefined): Parting {
    // The usual case, a regeneration or an edit of something that is in memory, reads nothing.
    if (parentId !== null && old.get(parentId) && !old.rangeOf(parentId))
      return { parentId, oldChild: old.after(parentId), newChild: childId };
    const oldIds = [...this.#store.sizes(leafId)].map(({ id }) => id);
    const position = new Map(oldIds.map((id, index) => [id, index]));
    let newChild = childId;
    for (const { id } of parentId === null ? [] : this.#store.sizes(parentId)) {
      const at = position.get(id);
      if (at !== undefined) return { parentId: id, oldChild: oldIds[at - 1], newChild };
      newChild = id;
    }
    return { parentId: null, oldChild: oldIds.at(-1), newChild };
  }

  #inOrder(ids: readonly string[]): string[] {
    const times = new Map(ids.map((id) => [id, this.#store.link(id)?.createdAt ?? 0]));
    return ids.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0) || (a < b ? -1 : 1));
  }
}

/** Children by parent; roots, and messages whose parent is gone, are the children of null. */
export function childrenByParent(links: readonly MessageLink[]): Map<string | null, string[]> {
  const known = new Set(links.map(({ id }) => id));
  const children = new Map<string | null, string[]>();
  for (const { id, parentId } of links) {
    const parent = parentId !== null && known.has(parentId) ? parentId : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(id);
    else children.set(parent, [id]);
  }
  return children;
}

/** A fork with its place. */
export type KnownFork = Fork & { readonly parentId: string | null };

/** The rows that a tree needs besides `known`, so that each message with several children has one for each. `links` are oldest first. */
export function missingForks(
  links: readonly MessageLink[],
  activeLeaf: string | null,
  known: readonly Pick<KnownFork, "childId">[] = []
): KnownFork[] {
  const noted = new Set(known.map(({ childId }) => childId));
  const leaves = newestLeaves(links);
  const parents = new Map(links.map(({ id, parentId }) => [id, parentId]));
  const active = new Set<string>();
  for (let id = activeLeaf; id !== null && !active.has(id); id = parents.get(id) ?? null) active.add(id);
  return [...childrenByParent(links)].flatMap(([parentId, children]) => {
    if (children.length < 2) return [];
    const missing = children.filter((childId) => !noted.has(childId));
    return missing.map((childId) => {
      const leafId = active.has(childId) ? null : (leaves.get(childId) ?? null);
      return { parentId, childId, leafId, label: null };
    });
  });
}

/** For each message the newest leaf below it (a leaf's is itself). `links` are oldest first. */
export function newestLeaves(links: readonly MessageLink[]): Map<string, string> {
  const parents = new Map(links.map(({ id, parentId }) => [id, parentId]));
  const children = childrenByParent(links);
  const leaves = new Map<string, string>();
  // Newest first, each up to where a newer one has been: every message is met once.
  for (const { id: leaf } of links.toReversed()) {
    if (children.has(leaf)) continue;
    for (let id: string | null | undefined = leaf; id && !leaves.has(id); id = parents.get(id))
      leaves.set(id, leaf);
  }
  return leaves;
}

function newestLeafBelow(links: readonly MessageLink[], id: string): string {
  return newestLeaves(links.toSorted((a, b) => a.createdAt - b.createdAt)).get(id) ?? id;
}
