/**
 * What of a stored tree is exported. A database may hold rows that are no messages any more, parents that are gone and ranges that name
 * them; a document may not, because it could not be imported.
 *
 * I1. What is left out takes nothing with it: what followed it follows what it followed.
 * I2. A tree without damage is exported as it is.
 */
import type { UIMessage } from "ai";
import { messageSchema } from "../../protocol/schema";
import { COMPACTION_LIMITS } from "../../shared/limits";
import type { BranchStore } from "../branch-store";
import type { StoredCompaction } from "../compaction/overlay";
import { missingForks, type KnownFork } from "../forks";
import type { MessageLink, MessageStore, TreeRow } from "../message-store";
import { readable } from "../path-reader";
import { prepareMessage } from "../sanitize";
import { cutCycles, treeOrder } from "./tree-order";

export interface TreeSource {
  readonly store: Pick<MessageStore, "rows">;
  readonly branches: Pick<BranchStore, "all">;
  readonly compactions: readonly StoredCompaction[];
  readonly leafId: string | null;
}

export interface ExportTree {
  readonly leafId: string | null;
  /** Parent of each message that is exported. */
  readonly parents: ReadonlyMap<string, string | null>;
  readonly forks: readonly KnownFork[];
  readonly compactions: readonly StoredCompaction[];
}

/** The message of a row as an import would store it; undefined when it would not. */
export function exportable({ id, content }: Pick<TreeRow, "id" | "content">): UIMessage | undefined {
  const [row] = readable({ id, content, size: 0 });
  const message = row && prepareMessage(row.message);
  const fits = message && message.parts.length > 0 && messageSchema.safeParse(message).success;
  return fits ? message : undefined;
}

/** Reads every row once, and keeps places only. */
export function planExport({ store, branches, compactions, leafId }: TreeSource): ExportTree {
  const stored = new Map<string, string | null>();
  const kept = new Map<string, number>();
  for (const row of store.rows()) {
    stored.set(row.id, row.parentId);
    if (exportable(row)) kept.set(row.id, row.createdAt);
  }
  cutCycles(stored);
  const keptFrom = (id: string | null): string | null => {
    let next = id;
    while (next !== null && !kept.has(next)) next = stored.get(next) ?? null;
    return next;
  };
  const links = [...kept].map(([id, createdAt]): MessageLink => ({
    ...{ id, createdAt, parentId: keptFrom(stored.get(id) ?? null) }
  }));
  const parents = new Map(links.map(({ id, parentId }) => [id, parentId]));
  const leaf = keptFrom(leafId);
  const { isBefore } = treeOrder(parents);
  const known = branches.all().flatMap(({ parentId, childId, leafId: left, label }) => {
    const end = keptFrom(left);
    const parent = keptFrom(parentId);
    if (!kept.has(childId) || parents.get(childId) !== parent) return [];
    return [
      { parentId: parent, childId, leafId: end !== null && isBefore(childId, end) ? end : null, label }
    ];
  });
  const forks = [...known, ...missingForks(links.toSorted(byTime), leaf, known)];
  return {
    parents,
    leafId: leaf ?? links.toSorted(byTime).at(-1)?.id ?? null,
    forks: forks.toSorted(byPlace),
    compactions: compactions
      .filter(({ fromMessageId, toMessageId }) => isBefore(fromMessageId, toMessageId))
      .slice(-COMPACTION_LIMITS.overlays)
  };
}

const byTime = (a: MessageLink, b: MessageLink) => a.createdAt - b.createdAt;

function byPlace(a: KnownFork, b: KnownFork): number {
  const [left, right] = [a.parentId ?? "", b.parentId ?? ""];
  if (left !== right) return left < right ? -1 : 1;
  return a.childId < b.childId ? -1 : 1;
}
