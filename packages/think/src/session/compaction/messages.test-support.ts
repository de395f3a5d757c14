/** Messages for the tests of compaction: dialogues, and random histories in which tool calls are answered in later messages. */
import type { UIMessage } from "ai";
import fc from "fast-check";
import type { Part } from "../parts";

export const say = (id: string, text = `text of ${id}`, role: UIMessage["role"] = "user"): UIMessage => ({
  id,
  role,
  parts: [{ type: "text", text }]
});

/** `m0`, `m1`, …, users and answers in turn. */
export const dialogue = (count: number, chars = 20): UIMessage[] =>
  Array.from({ length: count }, (_, index) =>
    say(`m${index}`, `${index} `.padEnd(chars, "x"), index % 2 === 0 ? "user" : "assistant")
  );

export const call = (toolCallId: string): Part => ({
  type: "tool-search",
  toolCallId,
  state: "input-available",
  input: { query: toolCallId }
});

export const result = (toolCallId: string, output: unknown = "found"): Part => ({
  type: "tool-search",
  toolCallId,
  state: "output-available",
  input: { query: toolCallId },
  output
});

export const tools = (id: string, ...parts: Part[]): UIMessage => ({ id, role: "assistant", parts });

export const ids = (messages: readonly { readonly id: string }[]): string[] => messages.map(({ id }) => id);

const toolPart = fc
  .record({ id: fc.integer({ min: 0, max: 4 }), settled: fc.boolean() })
  .map(({ id, settled }) => (settled ? result(`t${id}`) : call(`t${id}`)));

/** Histories with few tool call ids, so that calls, results and repetitions meet. */
export const histories: fc.Arbitrary<UIMessage[]> = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 40 }).map((text) => say("", text)),
      fc.string({ maxLength: 40 }).map((text) => say("", text, "assistant")),
      fc.array(toolPart, { minLength: 1, maxLength: 3 }).map((parts) => tools("", ...parts))
    ),
    { maxLength: 24 }
  )
  .map((messages) => messages.map((message, index) => ({ ...message, id: `m${index}` })));

/** Whether a call before `cut` has its result at or after it, or still waits for one. Written to be obvious, not fast. */
export function separates(messages: readonly UIMessage[], cut: number): boolean {
  const states = messages.map(({ parts }) =>
    parts.flatMap((part) => ("toolCallId" in part ? [{ id: part.toolCallId, state: part.state }] : []))
  );
  return states.slice(0, cut).some((before, index) =>
    before.some(({ id, state }) => {
      if (state !== "input-available") return false;
      const next = states.findIndex((later, at) => at > index && later.some((other) => other.id === id));
      if (next !== -1) return next >= cut;
      return messages.slice(index + 1).every(({ role }) => role !== "user");
    })
  );
}
