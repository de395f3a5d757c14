import fc from "fast-check";
import { expect, it } from "vitest";
import { cutCycles, findCycle, treeOrder } from "./tree-order";

/** A parent for each of `n` messages, itself included: any shape, circles too. */
const anyParents = fc
  .integer({ min: 1, max: 12 })
  .chain((n) => fc.array(fc.option(fc.nat(n - 1)), { minLength: n, maxLength: n }))
  .map((list) => new Map(list.map((parent, id) => [`m${id}`, parent === null ? null : `m${parent}`])));

function pathOf(parents: ReadonlyMap<string, string | null>, id: string): string[] {
  const path = [id];
  for (let next = parents.get(id) ?? null; next !== null && !path.includes(next);) {
    path.push(next);
    next = parents.get(next) ?? null;
  }
  return path;
}

const endsAtRoot = (parents: ReadonlyMap<string, string | null>, id: string) =>
  parents.get(pathOf(parents, id).at(-1) ?? "") === null;

it("finds a circle exactly when there is one", () => {
  fc.assert(
    fc.property(anyParents, (parents) => {
      const hasCycle = ![...parents.keys()].every((id) => endsAtRoot(parents, id));
      const found = findCycle(parents);
      expect(found !== undefined).toBe(hasCycle);
      if (found !== undefined) expect(endsAtRoot(parents, found)).toBe(false);
    })
  );
});

it("cuts circles and nothing else", () => {
  fc.assert(
    fc.property(anyParents, (parents) => {
      const cut = new Map(parents);
      cutCycles(cut);
      expect(findCycle(cut)).toBeUndefined();
      for (const [id, parent] of cut)
        if (parent !== parents.get(id)) expect(endsAtRoot(parents, id)).toBe(false);
    })
  );
});

it("knows which message is on the path to another", () => {
  fc.assert(
    fc.property(anyParents, (parents) => {
      cutCycles(parents);
      const order = treeOrder(parents);
      for (const id of parents.keys()) {
        const path = pathOf(parents, id);
        for (const other of parents.keys()) expect(order.isBefore(other, id)).toBe(path.includes(other));
      }
    })
  );
});

it("takes a path of 100,000 messages and as many roots", () => {
  const chain = new Map(Array.from({ length: 100_000 }, (_, id) => [`${id}`, id === 0 ? null : `${id - 1}`]));
  expect(findCycle(chain)).toBeUndefined();
  expect(treeOrder(chain).isBefore("0", "99999")).toBe(true);
  const roots = new Map(Array.from({ length: 100_000 }, (_, id) => [`${id}`, null]));
  expect(treeOrder(roots).isBefore("0", "99999")).toBe(false);
});
