import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dialogue, ids } from "./messages.test-support";
import { applyOverlays, type StoredCompaction } from "./overlay";

const overlay = (id: string, from: number, to: number, createdAt = 1): StoredCompaction => ({
  id,
  fromMessageId: `m${from}`,
  toMessageId: `m${to}`,
  summary: `summary ${id}`,
  createdAt
});

describe("§8.10 overlays", () => {
  const path = dialogue(8);

  it("replace their range by one assistant message with the summary as text", () => {
    const seen = applyOverlays(path, [overlay("x", 2, 5)]);
    expect(ids(seen)).toEqual(["m0", "m1", "compaction_x", "m6", "m7"]);
    expect(seen[2]).toEqual({
      id: "compaction_x",
      role: "assistant",
      parts: [{ type: "text", text: "summary x" }]
    });
  });

  it("trap 39: a larger one supersedes those inside it, and shows them again when it is gone", () => {
    const small = overlay("a", 2, 4, 1);
    expect(ids(applyOverlays(path, [small, overlay("b", 2, 6, 2)]))).toEqual([
      "m0",
      "m1",
      "compaction_b",
      "m7"
    ]);
    expect(ids(applyOverlays(path, [small]))).toEqual(["m0", "m1", "compaction_a", "m5", "m6", "m7"]);
  });

  it("§11.9 on a branch where the newest does not end, the older one applies", () => {
    const branch = [...dialogue(5), { ...path[5]!, id: "other" }];
    const seen = applyOverlays(branch, [overlay("a", 2, 3, 1), overlay("b", 2, 6, 2)]);
    expect(ids(seen)).toEqual(["m0", "m1", "compaction_a", "m4", "other"]);
  });

  it("of several that end together the newest counts, then the higher id", () => {
    const same = [overlay("b", 3, 5, 1), overlay("a", 2, 5, 1), overlay("c", 4, 5, 0)];
    expect(ids(applyOverlays(path, same))).toContain("compaction_b");
    expect(ids(applyOverlays(path, [...same, overlay("a2", 1, 5, 2)]))).toContain("compaction_a2");
  });

  it("whose start is not on the path, or after the end, do not apply", () => {
    const odd = [overlay("x", 90, 3), overlay("y", 3, 90), overlay("z", 5, 2)];
    expect(applyOverlays(path, odd)).toEqual(path);
  });

  it("can cover one message, or all", () => {
    expect(ids(applyOverlays(path, [overlay("x", 3, 3)]))).toHaveLength(8);
    expect(ids(applyOverlays(path, [overlay("x", 0, 7)]))).toEqual(["compaction_x"]);
    expect(applyOverlays([], [overlay("x", 0, 7)])).toEqual([]);
  });

  it("never split a range, never repeat an id and leave all other messages as they are", () => {
    const overlays = fc.array(
      fc.record({
        from: fc.integer({ min: 0, max: 14 }),
        to: fc.integer({ min: 0, max: 14 }),
        createdAt: fc.integer({ min: 0, max: 3 })
      }),
      { maxLength: 8 }
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), overlays, (length, chosen) => {
        const messages = dialogue(length);
        const stored = chosen.map(({ from, to, createdAt }, index) =>
          overlay(`c${index}`, from, to, createdAt)
        );
        const seen = applyOverlays(messages, stored);
        expect(ids(seen)).toEqual(naive(length, stored));
        expect(new Set(ids(seen)).size).toBe(seen.length);
        const originals = new Set(messages);
        for (const message of seen) {
          expect(originals.has(message)).toBe(!message.id.startsWith("compaction_"));
        }
      })
    );
  });
});

/** The rule once more, by repeatedly cutting the last range off the end. */
function naive(length: number, stored: readonly StoredCompaction[]): string[] {
  for (let end = length - 1; end >= 0; end -= 1) {
    const candidates = stored
      .filter(({ toMessageId }) => toMessageId === `m${end}`)
      .map((compaction) => ({ ...compaction, from: Number(compaction.fromMessageId.slice(1)) }))
      .filter(({ from }) => from <= end)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    const [newest] = candidates;
    if (newest === undefined) continue;
    const rest = Array.from({ length: length - 1 - end }, (_, index) => `m${end + 1 + index}`);
    return [...naive(newest.from, stored), `compaction_${newest.id}`, ...rest];
  }
  return Array.from({ length }, (_, index) => `m${index}`);
}
