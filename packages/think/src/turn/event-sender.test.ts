import type { UIMessageChunk } from "ai";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../shared/limits";
import { EventSender } from "./event-sender";

/** A caller that answers when it is told to. */
function newCaller() {
  const seen: string[] = [];
  const failures: unknown[] = [];
  const answers: (() => void)[] = [];
  const sender = new EventSender({
    send(json) {
      seen.push(json);
      return new Promise((resolve) => answers.push(resolve));
    },
    failed: (error) => void failures.push(error)
  });
  const say = (delta: string) => {
    const chunk: UIMessageChunk = { type: "text-delta", id: "0", delta };
    return sender.push(chunk, JSON.stringify(chunk));
  };
  const text = () => seen.map((json) => (JSON.parse(json) as { delta: string }).delta).join("");
  return {
    sender,
    seen,
    failures,
    say,
    text,
    answerAll: () => answers.splice(0).forEach((answer) => answer())
  };
}

const turnOver = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("events to a slow caller", () => {
  it("are sent without waiting until too many are unanswered, then merged, in order and without loss", async () => {
    const { sender, seen, say, text, answerAll } = newCaller();
    for (let index = 0; index < 100; index += 1) expect(say(`${index} `)).toBeUndefined();
    expect(seen).toHaveLength(LIMITS.callbackEventsInFlight);
    let isFlushed = false;
    const flushed = sender.flush().then(() => (isFlushed = true));
    answerAll();
    await turnOver();
    expect(seen).toHaveLength(LIMITS.callbackEventsInFlight + 1);
    expect(isFlushed).toBe(false);
    answerAll();
    await flushed;
    expect(text()).toBe(Array.from({ length: 100 }, (_, index) => `${index} `).join(""));
  });

  it("hold the turn when too much is held back, until the next answer", async () => {
    const { say, answerAll } = newCaller();
    for (let index = 0; index < LIMITS.callbackEventsInFlight; index += 1) void say("x");
    const wait = say("y".repeat(LIMITS.callbackHeldChars));
    expect(wait).toBeInstanceOf(Promise);
    answerAll();
    await wait;
    expect(say("z")).toBeUndefined();
  });

  it("end with its first failure: nothing is sent any more, and nobody waits", async () => {
    const failures: unknown[] = [];
    let calls = 0;
    const sender = new EventSender({
      send: () => {
        calls += 1;
        return Promise.reject(new Error("gone"));
      },
      failed: (error) => void failures.push(error)
    });
    const chunk: UIMessageChunk = { type: "text-delta", id: "0", delta: "x" };
    for (let index = 0; index < 50; index += 1) void sender.push(chunk, JSON.stringify(chunk));
    await sender.flush();
    expect(sender.push(chunk, "{}")).toBeUndefined();
    expect(calls).toBe(LIMITS.callbackEventsInFlight);
    expect(failures).toHaveLength(1);
  });

  it("of a caller that needs no time are sent one by one", () => {
    const seen: string[] = [];
    const sender = new EventSender({ send: (json) => void seen.push(json), failed: () => undefined });
    const chunk: UIMessageChunk = { type: "text-delta", id: "0", delta: "x" };
    for (let index = 0; index < 100; index += 1) void sender.push(chunk, JSON.stringify(chunk));
    expect(seen).toHaveLength(100);
  });
});
