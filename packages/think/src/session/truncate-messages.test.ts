import type { UIMessage } from "ai";
import { expect, it } from "vitest";
import { truncateOlderMessages } from "./truncate-messages";

const part = (fields: Record<string, unknown>) => fields as UIMessage["parts"][number];
const long = "x".repeat(10_001);
const answer = (output: unknown): UIMessage => ({
  id: "answer",
  role: "assistant",
  parts: [
    part({ type: "text", text: long }),
    part({ type: "tool-read", toolCallId: "c", state: "output-available", input: {}, output })
  ]
});

it("§9.1.5 cuts long texts and large outputs of all but the last four messages, and says so", () => {
  const messages = Array.from({ length: 5 }, () => answer("y".repeat(600)));
  const before = structuredClone(messages);
  const truncated = truncateOlderMessages(messages);
  const [text, tool] = truncated[0]?.parts ?? [];
  expect(text).toMatchObject({ text: expect.stringContaining("[truncated") });
  expect(tool).toMatchObject({ output: expect.stringContaining("[truncated") });
  expect(JSON.stringify((tool as { output: unknown }).output).length).toBeLessThanOrEqual(500);
  expect(truncated.slice(1)).toEqual(messages.slice(1));
  expect(messages).toEqual(before);
});

it("§9.1.5 keeps the outer shape of structured outputs", () => {
  const rows = Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}` }));
  const shapes = [rows, { total: 100, rows }].map((output) => {
    const [shortened] = truncateOlderMessages([answer(output)], { keepRecent: 0 });
    return shortened?.parts[1];
  });
  expect(shapes[0]).toMatchObject({ output: expect.any(Array) });
  expect(shapes[1]).toMatchObject({ output: { total: 100 } });
});

it("leaves short texts and outputs as they are", () => {
  const message: UIMessage = { id: "m", role: "user", parts: [{ type: "text", text: "x".repeat(10_000) }] };
  expect(truncateOlderMessages([message], { keepRecent: 0 })).toEqual([message]);
});
