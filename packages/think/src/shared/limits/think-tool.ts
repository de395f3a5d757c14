/** The limits of the `think` tool, with unit, default and reason. */
export const THINK_TOOL_LIMITS = {
  /** Thoughts kept per session; the oldest goes first. Default, and the range an application may choose from. */
  thoughts: 100,
  thoughtsMin: 1,
  thoughtsMax: 1000,
  /** Longest thought, in UTF-16 code units. Default, and the range: a row must hold it, and a note must fit. */
  thoughtChars: 10_000,
  thoughtCharsMin: 100,
  thoughtCharsMax: 100_000,
  /** Longest session id, in UTF-16 code units: it is part of a key. */
  sessionIdChars: 1000
} as const;
