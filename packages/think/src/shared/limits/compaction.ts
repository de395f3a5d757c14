/**
 * The numeric limits of compaction, with unit and reason.
 */
export const COMPACTION_LIMITS = {
  /** First messages that are never summarised: they say what the conversation is about. */
  protectHead: 3,

  /** Newest messages that stay as they are, in tokens: enough for the work at hand. */
  tailTokens: 20_000,

  /** Newest messages that stay whatever they weigh. */
  tailMessages: 2,

  /** Share of the replaced messages' tokens that a summary may have, and its bounds, in tokens. */
  summaryShare: 0.2,
  summaryTokensFloor: 100,
  summaryTokens: 16_000,

  /** Longest stored summary, in characters: `summaryTokens` at four characters each. The rest is cut. */
  summaryChars: 64_000,

  /** Longest prompt for the summary, in characters: about 100,000 tokens, which common models take. */
  promptChars: 400_000,

  /** Longest tool input and tool output in that prompt, in characters each. */
  promptToolChars: 500,

  /** Longest text of one message in that prompt, in characters, and what is left of it when there are too many messages. */
  promptTextChars: 20_000,
  promptTextFloor: 500,

  /** How long a compaction function may take, in ms: a slow model with a long prompt, but no summary that never comes. */
  functionMs: 5 * 60_000,

  /** Overlays kept per session. Older ones only serve undo and old branches, and each can be as long as a summary. */
  overlays: 50,

  /** Longest error text sent to clients, in characters. */
  errorChars: 1_000
} as const;
