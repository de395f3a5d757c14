/** The stored tree against a model that is a plain map, under random histories. */
import type { UIMessage } from "ai";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { SessionStores } from "../src/compose-session";
import { applyOverlays, type StoredCompaction } from "../src/session/compaction/overlay";
import { answer, ids, loadWorker, user } from "./worker/messages-agents";
import { onSessions, type SessionDesk } from "./worker/session-desk";

beforeAll(loadWorker, 60_000);

/** One step; `pick` chooses among what there is when it runs. */
interface Step {
  readonly kind:
    | "append"
    | "answer"
    | "regenerate"
    | "edit"
    | "follow"
    | "endAt"
    | "root"
    | "delete"
    | "compact"
    | "undo"
    | "fork"
    | "session"
    | "evict";
  readonly pick: number;
  readonly other: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    ...(["append", "append", "answer", "answer", "regenerate", "edit", "follow"] as const),
    ...(["endAt", "root", "delete", "compact", "undo", "fork", "session", "evict"] as const)
  ),
  pick: fc.nat(1_000),
  other: fc.nat(1_000)
});

/** What the tree should be: parents by id, in order of storing, and what is said. */
class Model {
  readonly parents = new Map<string, string | null>();
  readonly messages = new Map<string, UIMessage>();
  readonly compactions: StoredCompaction[] = [];
  leaf: string | null = null;
  /** Each session counts for itself: their ids are the same. */
  count = 0;

  add(message: UIMessage, parent: string | null): void {
    this.parents.set(message.id, parent);
    this.messages.set(message.id, message);
    this.leaf = message.id;
  }

  path(leaf = this.leaf): string[] {
    const path: string[] = [];
    for (let id: string | null | undefined = leaf; id; id = this.parents.get(id)) path.push(id);
    return path.toReversed();
  }

  history(leaf = this.leaf): UIMessage[] {
    const raw = this.path(leaf).flatMap((id) => this.messages.get(id) ?? []);
    return applyOverlays(raw, this.compactions);
  }

  leaves(): string[] {
    const parents = new Set(this.parents.values());
    return [...this.parents.keys()].filter((id) => !parents.has(id));
  }

  children(parent: string | null): string[] {
    return [...this.parents].filter(([, of]) => of === parent).map(([id]) => id);
  }

  remove(id: string): void {
    const parent = this.parents.get(id) ?? null;
    this.#shrink(id, parent);
    for (const child of this.children(id)) this.parents.set(child, parent);
    this.parents.delete(id);
    this.messages.delete(id);
    if (this.leaf === id) this.leaf = parent;
  }

  #shrink(id: string, parent: string | null): void {
    for (const [index, compaction] of [...this.compactions.entries()].toReversed()) {
      const { fromMessageId: from, toMessageId: to } = compaction;
      if (from !== id && to !== id) continue;
      const next = this.path(to)[this.path(to).indexOf(id) + 1] ?? null;
      const ends = { fromMessageId: from === id ? next : from, toMessageId: to === id ? parent : to };
      const { fromMessageId, toMessageId } = ends;
      if (from === to || fromMessageId === null || toMessageId === null) this.compactions.splice(index, 1);
      else this.compactions[index] = { ...compaction, fromMessageId, toMessageId };
    }
  }
}

class World {
  readonly #models = new Map([
    ["", new Model()],
    ["other", new Model()]
  ]);
  readonly #desk: SessionDesk;
  #stores: SessionStores;

  constructor(desk: SessionDesk) {
    this.#desk = desk;
    this.#stores = desk.wake();
  }

  get model(): Model {
    return this.#models.get(this.#stores.scope.id) ?? new Model();
  }

  run({ kind, pick, other }: Step): void {
    const { model } = this;
    const { conversation, compactions, archive, scope } = this.#stores;
    const all = [...model.parents.keys()];
    const chosen = all[pick % Math.max(1, all.length)];
    const id = `m${(model.count += 1)}`;
    switch (kind) {
      case "append":
        conversation.append([user(id)]);
        return model.add(user(id), model.leaf);
      case "answer":
        conversation.put(answer(id));
        return model.add(answer(id), model.leaf);
      case "root":
        conversation.put(user(id), null);
        return model.add(user(id), null);
      case "regenerate":
        if (chosen === undefined) return;
        conversation.put(answer(id), chosen);
        return model.add(answer(id), chosen);
      case "edit":
        return this.#edit(id, pick);
      case "follow":
        if (chosen === undefined) return;
        conversation.tree.follow(chosen);
        expect(model.path(conversation.tree.leafId ?? null)).toContain(chosen);
        expect(
          model.children(conversation.tree.leafId ?? null).length === 0 || model.path().includes(chosen)
        ).toBe(true);
        model.leaf = conversation.tree.leafId ?? null;
        return;
      case "endAt":
        if (chosen === undefined) return;
        conversation.tree.endAt(chosen);
        model.leaf = chosen;
        return;
      case "delete":
        if (chosen === undefined) return;
        return this.#delete([chosen, all[other % all.length] ?? chosen, "unknown"]);
      case "compact": {
        const path = model.path();
        if (path.length === 0) return;
        const [from = "", to = ""] = [pick % path.length, other % path.length]
          .toSorted((a, b) => a - b)
          .map((index) => path[index] ?? "");
        const compaction = {
          id,
          summary: `summary ${id}`,
          fromMessageId: from,
          toMessageId: to,
          createdAt: model.count
        };
        compactions.add(scope.id, compaction);
        conversation.reload();
        model.compactions.push(compaction);
        return;
      }
      case "undo": {
        const [undone] = model.compactions.splice(pick % Math.max(1, model.compactions.length), 1);
        if (!undone) return;
        compactions.remove(scope.id, undone.id);
        conversation.reload();
        return;
      }
      case "fork": {
        if (chosen === undefined) return;
        const forked = archive.fork(scope.id, chosen, "fork");
        const copy = archive.open(forked).messages;
        expect(copy.map(({ parts }) => parts)).toEqual(model.history(chosen).map(({ parts }) => parts));
        expect(new Set([...ids(copy), ...all]).size).toBe(copy.length + all.length);
        return;
      }
      case "session":
        scope.id = scope.id === "" ? "other" : "";
        conversation.reload();
        return;
      case "evict":
        this.#stores = this.#desk.wake(pick % 2 === 0 ? {} : { hydrationByteBudget: 300 });
        this.#stores.scope.id = scope.id;
    }
  }

  /** One after the other for the model; where a path is left without an end, the store says which it takes. */
  #delete(wanted: readonly string[]): void {
    const { model } = this;
    const { tree } = this.#stores.conversation;
    const deleted = tree.remove(wanted);
    expect(deleted).toEqual([...new Set(wanted)].filter((id) => model.parents.has(id)));
    let isLost = false;
    for (const id of deleted) {
      model.remove(id);
      isLost ||= model.leaf === null;
    }
    if (isLost && model.parents.size > 0) model.leaf = tree.leafId ?? null;
  }

  /** A client that sends the path up to a question in new words. */
  #edit(id: string, pick: number): void {
    const { conversation } = this.#stores;
    const shown = conversation.messages;
    const questions = shown.slice(0, -1).filter(({ role }) => role === "user");
    const before = questions[pick % Math.max(1, questions.length)];
    if (!before) return;
    const edited = user(before.id, `edited as ${id}`);
    conversation.receive([...shown.slice(0, shown.indexOf(before)), edited], { copyId: () => id });
    const { model } = this;
    const parent = model.parents.get(before.id) ?? null;
    for (const child of model.children(before.id)) model.parents.set(child, id);
    for (const [index, compaction] of model.compactions.entries()) {
      const moved = (end: string) => (end === before.id ? id : end);
      model.compactions[index] = {
        ...compaction,
        fromMessageId: moved(compaction.fromMessageId),
        toMessageId: moved(compaction.toMessageId)
      };
    }
    model.add({ ...before, id }, parent);
    model.messages.set(before.id, edited);
    model.leaf = before.id;
  }

  check(): void {
    const { conversation, compactions, scope } = this.#stores;
    const { tree } = conversation;
    expect(tree.leafId ?? null).toBe(this.model.leaf);
    expect(tree.history()).toEqual(this.model.history());
    for (const leaf of this.model.leaves()) expect(tree.history(leaf)).toEqual(this.model.history(leaf));
    expect(tree.count()).toBe(this.model.parents.size);
    expect(tree.pathLength()).toBe(this.model.path().length);
    expect(compactions.list(scope.id).length).toBe(this.model.compactions.length);
    for (const id of this.model.path()) {
      const before = ids(tree.before(id, Number.POSITIVE_INFINITY));
      expect(before).toEqual(ids(this.model.history(this.model.parents.get(id) ?? null)));
    }
    for (const id of this.model.parents.keys()) {
      expect(ids(tree.children(id)).toSorted()).toEqual(this.model.children(id).toSorted());
      const siblings = tree.siblings(id);
      const expected = this.model.children(this.model.parents.get(id) ?? null);
      expect(siblings.map(({ messageId }) => messageId).toSorted()).toEqual(expected.toSorted());
      const active = siblings.filter((branch) => branch.active).map(({ messageId }) => messageId);
      expect(active).toEqual(expected.filter((child) => this.model.path().includes(child)));
      for (const { leafId, messageId } of siblings) expect(this.model.path(leafId)).toContain(messageId);
    }
  }
}

describe("§8.3–8.4 the tree of a session", () => {
  it("has at every leaf the history that a plain map has, whatever is done to it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) =>
        onSessions((desk) => {
          const world = new World(desk);
          for (const one of steps) {
            world.run(one);
            world.check();
          }
        })
      ),
      { seed: 20_261_118, numRuns: 150 }
    );
  }, 120_000);
});
