/**
 * What a run said, as text and as JSON. Pure.
 */
import type { UIMessage } from "ai";
import { CHILD_RUN_LIMITS } from "../shared/limits";
import { parseStored } from "../shared/json";

/**
 * The answers to a run: the assistant's messages between its question and the next one. More than one when the answer was interrupted and
 * carried on. A question that is not known (rows of the published package, a windowed history) means all of them: a child serves one run.
 */
export function answersOf(messages: readonly UIMessage[], inputId: string | null): UIMessage[] {
  const asked = messages.findIndex(({ id }) => id === inputId);
  const after = messages.slice(asked + 1);
  const next = asked < 0 ? -1 : after.findIndex(({ role }) => role === "user");
  return (next < 0 ? after : after.slice(0, next)).filter(({ role }) => role === "assistant");
}

/** The default summary: what was said, else the output, else nothing. */
export function summaryOf(answers: readonly UIMessage[], output: unknown): string {
  const texts = answers.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []))
  );
  if (texts.length > 0) return texts.join("\n");
  return typeof output === "string" ? output : (outputJson(output) ?? "");
}

/** An output for its row. What has no JSON is stored as its text; undefined is not stored. */
export function outputJson(output: unknown): string | null {
  if (output === undefined) return null;
  try {
    // A function or a symbol has no JSON, whatever the type says.
    const json: unknown = JSON.stringify(output);
    return typeof json === "string" ? json : JSON.stringify(textOf(output));
  } catch {
    return JSON.stringify(textOf(output));
  }
}

/** An output from its row; undefined for damage. */
export function parseOutput(json: string | null): unknown {
  return json === null ? undefined : parseStored(json);
}

export function cutSummary(summary: string): string {
  return summary.slice(0, CHILD_RUN_LIMITS.summaryChars);
}

/** The default question of a run. */
export function inputText(input: unknown): string {
  return typeof input === "string" ? input : (JSON.stringify(input, null, 2) ?? String(input));
}

function textOf(value: unknown): string {
  try {
    // Functions, symbols, BigInts and what refers to itself come here: the best there is.
    return String(value);
  } catch {
    return "an output without a text";
  }
}
