/**
 * What a tree of messages must be before it is written or stored: parents that exist and no circles. Pure, and linear in the number of
 * messages, because documents come from outside and may have 100,000 of them.
 */

/** Parent by message; null for a root. */
export type Parents = ReadonlyMap<string, string | null>;

/** A message that follows itself; undefined when there is none. Parents that are not in the map count as roots. */
export function findCycle(parents: Parents): string | undefined {
  return walkUp(parents, () => undefined).next().value;
}

/** Makes the first message of each circle a root. */
export function cutCycles(parents: Map<string, string | null>): void {
  for (const id of walkUp(parents, (at) => parents.set(at, null))) void id;
}

function* walkUp(parents: Parents, met: (id: string) => void): Generator<string, undefined> {
  const done = new Set<string>();
  for (const start of parents.keys()) {
    const walk = new Set<string>();
    let next: string | null = start;
    while (next !== null && !done.has(next)) {
      if (walk.has(next)) {
        met(next);
        yield next;
        break;
      }
      walk.add(next);
      next = parents.get(next) ?? null;
    }
    for (const id of walk) done.add(id);
  }
  return undefined;
}

export interface TreeOrder {
  /** Whether a message comes before another one on its path, or is the same. */
  isBefore(id: string, laterId: string): boolean;
}

/** Numbers each message when it is entered and when everything below it is done, so that any two can be compared at once. */
export function treeOrder(parents: Parents): TreeOrder {
  const children = new Map<string | null, string[]>();
  for (const [id, parent] of parents) {
    const siblings = children.get(parent);
    if (siblings) siblings.push(id);
    else children.set(parent, [id]);
  }
  const entered = new Map<string, number>();
  const left = new Map<string, number>();
  let time = 0;
  const open = (children.get(null) ?? []).map((id) => ({ id, below: children.get(id) ?? [], next: 0 }));
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (!entered.has(top.id)) entered.set(top.id, (time += 1));
    const child = top.below[top.next];
    top.next += 1;
    if (child !== undefined) open.push({ id: child, below: children.get(child) ?? [], next: 0 });
    else {
      left.set(top.id, time);
      open.pop();
    }
  }
  return {
    isBefore(id, laterId) {
      const at = entered.get(id);
      const later = entered.get(laterId);
      return at !== undefined && later !== undefined && at <= later && later <= (left.get(id) ?? 0);
    }
  };
}
