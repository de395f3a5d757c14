/**
 * One change at a time. A model may call several tools in one step and the SDK runs them at once: two edits of the same
 * file would both read the old text, and one change would be lost. Keyed by the storage, because the tools
 * themselves are rebuilt for every turn.
 */
const tails = new WeakMap<object, Promise<unknown>>();

/** Runs `change` after every earlier change of the same storage has ended, well or badly. */
export function serially<T>(storage: object, change: () => Promise<T>): Promise<T> {
  const result = (tails.get(storage) ?? Promise.resolve()).then(change);
  tails.set(
    storage,
    result.catch(() => undefined)
  );
  return result;
}
