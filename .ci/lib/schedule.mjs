// In which order steps run, and which side by side.

/** How many steps that mostly wait run at once: each has a server or a browser, and CI has two cores. */
const atOnce = 2;

/**
 * Runs every item once, in order. One that computes runs alone; neighbours that mostly wait run side by side.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => boolean} waits
 * @param {(item: T) => Promise<void>} work
 */
export async function runInOrder(items, waits, work) {
  for (const group of groups(items, waits)) {
    const rest = group.values();
    const lane = async () => {
      for (const item of rest) await work(item);
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  }
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => boolean} waits
 * @returns {T[][]}
 */
function groups(items, waits) {
  /** @type {T[][]} */
  const found = [];
  let open = false;
  for (const item of items) {
    const group = open && waits(item) ? found.at(-1) : undefined;
    if (group === undefined) found.push([item]);
    else group.push(item);
    open = waits(item);
  }
  return found;
}
