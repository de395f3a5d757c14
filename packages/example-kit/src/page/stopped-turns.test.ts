import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { endsOfTurns, newestRequest } from "./stopped-turns";

const message = (id: string, role: UIMessage["role"]): UIMessage => ({ id, role, parts: [] });
const ask = (id: string) => message(id, "user");
const answer = (id: string) => message(id, "assistant");

describe("where a stopped turn is marked", () => {
  it("is the end of its answer, whatever the answer's id has become", () => {
    const stopped = new Set([newestRequest([ask("q"), answer("made-by-the-tab")])]);
    expect([...endsOfTurns([ask("q"), answer("stored")], stopped)]).toEqual(["stored"]);
  });

  it("is the last of the messages that an interrupted answer became", () => {
    const messages = [ask("q"), answer("before"), answer("after"), ask("next"), answer("other")];
    expect([...endsOfTurns(messages, new Set(["q"]))]).toEqual(["after"]);
  });

  it("is the request when nothing had been said", () => {
    expect([...endsOfTurns([ask("q"), ask("next"), answer("other")], new Set(["q"]))]).toEqual(["q"]);
  });

  it("is found for a turn that nobody asked for", () => {
    const messages = [answer("greeting"), ask("q"), answer("other")];
    expect([...endsOfTurns(messages, new Set([newestRequest([answer("greeting")])]))]).toEqual(["greeting"]);
  });

  it("is nowhere once the turn is gone", () => {
    expect(endsOfTurns([], new Set(["q"])).size).toBe(0);
  });
});
