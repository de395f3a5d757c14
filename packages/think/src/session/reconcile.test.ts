import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBehind, reconcile } from "./reconcile";

type Parts = UIMessage["parts"];
const user = (id: string, text = id): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] });
const answer = (id: string, text = "Hello"): UIMessage => ({
  id,
  role: "assistant",
  parts: [{ type: "text", text, state: "done" }]
});
const toolPart = (toolCallId: string, state: string, rest: object = {}) => ({
  type: "tool-add",
  toolCallId,
  state,
  input: { a: 1 },
  ...rest
});
const toolAnswer = (id: string, ...parts: object[]): UIMessage => ({
  id,
  role: "assistant",
  parts: parts as unknown as Parts
});

/** Reconciles against a server list, and tells how often the whole list was read. */
function against(server: readonly UIMessage[], incoming: readonly UIMessage[]) {
  let reads = 0;
  const result = reconcile(incoming, {
    get: (id) => server.find((message) => message.id === id),
    newestFirst: () => {
      reads += 1;
      return server.toReversed();
    }
  });
  return { result, reads };
}

describe("§6.4 tool states", () => {
  const settled = [
    ["output-available", { output: { sum: 3 } }],
    ["output-error", { errorText: "broken" }],
    ["output-denied", { approval: { id: "p", approved: false } }]
  ] as const;

  it.each(settled)("a client that is behind takes over %s with its payload only", (state, payload) => {
    const server = toolAnswer("a", toolPart("t", state, { ...payload, input: { a: 2 }, title: "server" }));
    for (const open of ["input-available", "approval-requested", "approval-responded"]) {
      const { result } = against([server], [toolAnswer("a", toolPart("t", open))]);
      expect(result).toEqual([toolAnswer("a", toolPart("t", state, payload))]);
    }
  });

  it("leaves parts alone that the client has settled or is still streaming, and those the server has not settled", () => {
    const server = toolAnswer(
      "a",
      toolPart("t", "output-available", { output: 1 }),
      toolPart("u", "input-available")
    );
    const incoming = toolAnswer(
      "a",
      toolPart("t", "output-available", { output: 2 }),
      toolPart("u", "approval-responded"),
      toolPart("v", "input-streaming")
    );
    expect(against([server], [incoming]).result).toEqual([incoming]);
  });

  it("works for dynamic tools", () => {
    const part = (state: string, rest: object = {}) => ({
      ...toolPart("t", state, rest),
      type: "dynamic-tool",
      toolName: "x"
    });
    const { result } = against(
      [toolAnswer("a", part("output-available", { output: 1 }))],
      [toolAnswer("a", part("input-available"))]
    );
    expect(result[0]?.parts[0]).toMatchObject({ state: "output-available", output: 1 });
  });
});

describe("§6.4 ids", () => {
  it("an answer under a made-up id takes the server's, and two equal answers map to two rows in order", () => {
    const server = [user("u1"), answer("s1"), user("u2"), answer("s2")];
    const { result } = against(server, [user("u1"), answer("c1"), user("u2"), answer("c2"), user("u3")]);
    expect(result.map(({ id }) => id)).toEqual(["u1", "s1", "u2", "s2", "u3"]);
  });

  it("a row that another message has by its id is not given away", () => {
    const { result } = against([answer("s1"), answer("s2")], [answer("c1"), answer("s1")]);
    expect(result.map(({ id }) => id)).toEqual(["s2", "s1"]);
    expect(against([answer("s1")], [answer("c1"), answer("s1")]).result.map(({ id }) => id)).toEqual([
      "c1",
      "s1"
    ]);
  });

  it("§17.17 an optimistic answer with a tool call takes the id and the outcome of the message that holds the call", () => {
    const server = [user("u1"), toolAnswer("s1", toolPart("t", "output-available", { output: 3 }))];
    const { result } = against(server, [
      user("u1"),
      toolAnswer("optimistic", toolPart("t", "input-available")),
      user("u2")
    ]);
    expect(result).toEqual([
      user("u1"),
      toolAnswer("s1", toolPart("t", "output-available", { output: 3 })),
      user("u2")
    ]);
  });

  it("a second message for the same row is left out", () => {
    const server = [toolAnswer("s1", toolPart("t", "output-available", { output: 3 }))];
    const { result } = against(server, [
      toolAnswer("s1", toolPart("t", "input-available")),
      toolAnswer("copy", toolPart("t", "input-available"))
    ]);
    expect(result.map(({ id }) => id)).toEqual(["s1"]);
  });

  it("users keep their ids, and unknown answers stay as they are", () => {
    const incoming = [user("new", "same text"), answer("unknown", "other")];
    expect(against([user("old", "same text"), answer("s")], incoming).result).toEqual(incoming);
  });
});

describe("§6.4 cost", () => {
  it("reads the stored list not at all without news and once at most otherwise", () => {
    const server = [
      user("u1"),
      answer("s1"),
      toolAnswer("s2", toolPart("t", "output-available", { output: 1 }))
    ];
    expect(against(server, [...structuredClone(server), user("u2")]).reads).toBe(0);
    const optimistic = Array.from({ length: 10 }, (_, index) => answer(`c${index}`));
    expect(against(server, optimistic).reads).toBe(1);
  });

  it("stays linear for long lists of equal answers", () => {
    const server = Array.from({ length: 10_000 }, (_, index) => answer(`s${index}`));
    const byId = new Map(server.map((message) => [message.id, message]));
    const incoming = Array.from({ length: 10_000 }, (_, index) => answer(`c${index}`));
    const started = performance.now();
    const result = reconcile(incoming, { get: (id) => byId.get(id), newestFirst: () => server.toReversed() });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(result.map(({ id }) => id)).toEqual(server.map(({ id }) => id));
  });
});

describe("§6.4 in general", () => {
  const message = fc.record({
    id: fc.constantFrom("1", "2", "3", "4", "5"),
    role: fc.constantFrom("user" as const, "assistant" as const),
    parts: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant("text"), text: fc.constantFrom("a", "b") }),
        fc
          .tuple(
            fc.constantFrom("t", "u"),
            fc.constantFrom("input-available", "output-available", "output-error")
          )
          .map(([id, state]) => toolPart(id, state))
      ),
      { maxLength: 3 }
    )
  });
  const list = fc
    .uniqueArray(message, { selector: ({ id }) => id })
    .map((messages) => messages as unknown as UIMessage[]);

  it("never loses a user, never gives an id twice, and changes nothing in what the server has already", () => {
    fc.assert(
      fc.property(list, list, (server, incoming) => {
        const { result } = against(server, incoming);
        const users = (messages: readonly UIMessage[]) => messages.filter(({ role }) => role === "user");
        expect(users(result)).toEqual(users(incoming));
        expect(new Set(result.map(({ id }) => id)).size).toBe(result.length);
        expect(against(server, server).result).toEqual(server);
      })
    );
  });
});

describe("a message that is behind", () => {
  it("has the first parts of the stored answer and lacks the others", () => {
    const stored = toolAnswer("a", toolPart("t", "output-available", { output: 1 }), {
      type: "text",
      text: "done"
    });
    const part = (rest: object) => toolAnswer("a", toolPart("t", "output-available", rest));
    expect(isBehind(part({ output: 1 }), stored)).toBe(true);
    expect(isBehind(part({ output: 2 }), stored)).toBe(false);
    expect(isBehind(stored, stored)).toBe(false);
    expect(isBehind({ ...user("a"), parts: [] }, user("a"))).toBe(false);
  });
});
