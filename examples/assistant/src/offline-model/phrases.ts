/** Small readers for the pieces of a sentence: quotes, code fences, paths. Pure; used by the intent parser. */

const QUOTES: readonly (readonly [string, string])[] = [
  ["`", "`"],
  ['"', '"'],
  ["'", "'"],
  ["“", "”"],
  ["‘", "’"]
];

/** Removes one pair of surrounding quotes or backticks. */
export function unquote(text: string): string {
  const trimmed = text.trim();
  for (const [open, close] of QUOTES) {
    if (trimmed.length > 1 && trimmed.startsWith(open) && trimmed.endsWith(close))
      return trimmed.slice(1, -1);
  }
  return trimmed;
}

/** Takes the body out of a fenced code block, or returns the text as it is. */
export function stripFence(text: string): string {
  const match = /^```[\w-]*\n(.*?)\n?```$/s.exec(text.trim());
  return match?.[1] ?? text;
}

/** Makes an absolute path of a word: quotes and sentence punctuation removed, leading slash added. */
export function asPath(word: string): string {
  const bare = unquote(word.replace(/[,;:!?]+$/, "")).replace(/(?<=[^./])\.$/, "");
  return bare.startsWith("/") ? bare : `/${bare.replace(/^\.\//, "")}`;
}

/** True for a word with a slash or an extension: `/notes`, `notes.md`, `src/x`. */
export function looksLikeFile(word: string): boolean {
  return /\/|\.[a-z0-9]{1,8}$/i.test(unquote(word.replace(/[,;:!?.]+$/, "")));
}

/** A code block whose fence is longer than any run of backticks inside it. */
export function fence(text: string, language = ""): string {
  const runs = text.match(/`+/g) ?? [];
  const marks = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return `${marks}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${marks}`;
}

/** `1 file`, `2 files`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}
