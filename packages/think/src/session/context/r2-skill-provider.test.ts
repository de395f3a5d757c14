import { describe, expect, it } from "vitest";
import { CONTEXT_LIMITS } from "../../shared/limits";
import { R2SkillProvider, type SkillBucket } from "./r2-skill-provider";

describe("§8.9 skills in a bucket", () => {
  it("are listed over all pages, and a bucket that never ends is given up", async () => {
    let pages = 0;
    const bucket = (last: number): SkillBucket => ({
      list: ({ cursor = "0" }) => {
        pages += 1;
        const page = Number(cursor);
        const more = page < last;
        return Promise.resolve({
          objects: [{ key: `s${page}` }],
          truncated: more,
          ...(more ? { cursor: `${page + 1}` } : {})
        });
      },
      get: () => Promise.resolve(null),
      put: () => Promise.resolve()
    });
    expect(await new R2SkillProvider(bucket(2)).get()).toBe("- s0\n- s1\n- s2");
    pages = 0;
    expect(await new R2SkillProvider(bucket(Number.POSITIVE_INFINITY)).get()).toContain("there are more");
    expect(pages).toBe(CONTEXT_LIMITS.listPages);
  });

  it("never ask the bucket for a key that is not allowed, and refuse what is too large", async () => {
    const asked: string[] = [];
    const bucket: SkillBucket = {
      list: () => Promise.resolve({ objects: [], truncated: false }),
      get: (key) => {
        asked.push(key);
        return Promise.resolve({ size: CONTEXT_LIMITS.skillBytes + 1, text: () => Promise.resolve("x") });
      },
      put: () => Promise.resolve()
    };
    const provider = new R2SkillProvider(bucket, { prefix: "p/", keys: ["a"] });
    expect(await provider.get()).toBeNull();
    expect([await provider.load("b"), await provider.load("")]).toEqual([null, null]);
    expect(asked).toEqual([]);
    await expect(provider.load("a")).rejects.toThrow("bytes");
    expect(asked).toEqual(["p/a"]);
  });
});
