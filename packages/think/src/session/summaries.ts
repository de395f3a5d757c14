/** What becomes of stored summaries when messages leave the tree. */
import type { CompactionStore } from "./compaction/compaction-store";
import type { SessionScope } from "./path-reader";
import type { TreeObserver } from "./tree-observer";

/** Keeps the ends of summarised ranges on messages that exist. */
export function followEnds(compactions: CompactionStore, scope: SessionScope): TreeObserver {
  return {
    stored: () => undefined,
    removing({ id, parentId }, childTowards) {
      compactions.moveEnds(scope.id, new Set([id]), ({ fromMessageId, toMessageId }) => {
        // A range shrinks from its ends; nothing is left when its only message goes.
        const from = fromMessageId === id ? childTowards(toMessageId) : fromMessageId;
        const to = toMessageId === id ? parentId : toMessageId;
        if (fromMessageId === toMessageId || from === null || to === null) return null;
        return { fromMessageId: from, toMessageId: to };
      });
    },
    copied(id, copyId) {
      const moved = (end: string) => (end === id ? copyId : end);
      compactions.moveEnds(scope.id, new Set([id]), ({ fromMessageId, toMessageId }) => ({
        fromMessageId: moved(fromMessageId),
        toMessageId: moved(toMessageId)
      }));
    },
    cleared: () => compactions.clear(scope.id)
  };
}
