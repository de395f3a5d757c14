import { expect, it } from "vitest";
import { fakeClock } from "../testing/fake-clock";
import { Stability } from "./stability";

function world() {
  const clock = fakeClock();
  const state = { stable: false };
  const idle = Promise.withResolvers<void>();
  const stability = new Stability({ clock, isStable: () => state.stable, whenIdle: () => idle.promise });
  return { clock, state, stability, becomeIdle: () => idle.resolve() };
}

it("answers at once when the conversation is at rest (§7.8)", async () => {
  const { stability, state } = world();
  state.stable = true;
  expect(await stability.wait(0)).toBe(true);
});

it("answers when a change brings rest, not at any change", async () => {
  const { stability, state } = world();
  let answer: boolean | undefined;
  const waiting = stability.wait().then((value) => (answer = value));
  stability.changed();
  await Promise.resolve();
  await Promise.resolve();
  expect(answer).toBeUndefined();
  state.stable = true;
  stability.changed();
  await waiting;
  expect(answer).toBe(true);
});

it("answers when the last turn leaves the queue", async () => {
  const { stability, state, becomeIdle } = world();
  const waiting = stability.wait();
  state.stable = true;
  becomeIdle();
  expect(await waiting).toBe(true);
});

it("gives up when the time is over", async () => {
  const { stability, clock } = world();
  const waiting = stability.wait(500);
  await clock.advance(500);
  expect(await waiting).toBe(false);
});
