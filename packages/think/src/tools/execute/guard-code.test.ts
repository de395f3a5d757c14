import { describe, expect, it } from "vitest";
import { guardCode } from "./guard-code";

async function run(code: string, timeoutMs = 1000): Promise<unknown> {
  const guarded = guardCode(code, timeoutMs);
  if (!guarded.ok) throw new Error(guarded.error);
  // The test's own code: the platform's sandbox does not exist here.
  // oxlint-disable-next-line typescript/no-implied-eval
  const make = new Function(`return (${guarded.code});`) as () => () => Promise<unknown>;
  return make()();
}

describe("guarded code means what the plain code means", () => {
  it.each([
    ["async () => ({ a: 1 })", { a: 1 }],
    ["async () => [1, 2, 3].map((n) => n * 2)", [2, 4, 6]],
    ["async () => [1].map((n) => ({ n }))", [{ n: 1 }]],
    ["async () => { let n = 0; for (let i = 0; i < 5; i++) n += i; return n; }", 10],
    ["async () => { let n = 0; do n++; while (n < 3); return n; }", 3],
    ["async () => { let n = 0; while (n < 3) n++; return n; }", 3],
    ["async () => { let s = ''; for (const c of 'abc') if (c !== 'b') s += c; return s; }", "ac"],
    [
      "async () => { const o = []; for (const k in { a: 1, b: 2 }) for (const n of [1, 2]) o.push(k + n); return o; }",
      ["a1", "a2", "b1", "b2"]
    ],
    [
      "async () => { outer: for (const a of [1, 2]) { for (const b of [1, 2]) { if (b === 2) continue outer; if (a === 2) break outer; } } return 'left'; }",
      "left"
    ],
    [
      "async () => { class A { #x = 1; get x() { return this.#x; } static make = () => new A(); } return A.make().x; }",
      1
    ],
    ["async () => { function* g() { yield 1; yield 2; } return [...g()]; }", [1, 2]],
    ["async () => (() => (() => (a => a)(3))())()", 3],
    ["async () => { const f = async (a = (() => 2)()) => a; return f(); }", 2],
    ["async () => { const o = { m() { return 4; }, get g() { return 5; } }; return o.m() + o.g; }", 9],
    [
      "async () => { let r = 0; for await (const n of (async function* () { yield 1; yield 2; })()) r += n; return r; }",
      3
    ],
    ["async () => { if (true) for (let i = 0; i < 1; i++); else return 1; return 2; }", 2],
    ["async () => `a${[1, 2].map((n) => `${n}`).join('')}`", "a12"]
  ])("%s", async (code, value) => {
    expect(await run(code)).toEqual(value);
  });

  it("names what does not parse", () => {
    expect(guardCode("async () => { return }}", 1)).toMatchObject({
      ok: false,
      error: expect.stringContaining("SyntaxError")
    });
  });
});

it.each(["async () => {}) ; (0", "async () => {}\n); while (true) {} (0"])(
  "%j cannot close the wrapper",
  (code) => {
    expect(guardCode(code, 1)).toMatchObject({ ok: false, error: expect.stringContaining("brackets") });
  }
);

describe("guarded code ends", () => {
  it.each([
    "async () => { for (;;); }",
    "async () => { while (true) { try { for (;;) {} } catch {} } }",
    "async () => { const loop = () => loop2(); const loop2 = () => { try { return loop(); } catch { return loop(); } }; for (;;) loop(); }",
    "async () => { const __tick = () => 1; const __tick_ = 2; for (;;) __tick(); }"
  ])("%s", async (code) => {
    await expect(run(code, 20)).rejects.toThrow("Execution timed out");
  });
});
