/**
 * The numeric limits of prompt assembly, with unit and reason.
 */
export const LOOP_LIMITS = {
  /** Newest messages that reach the model in full. */
  fullMessages: 4,

  /** Longest tool output in an older message, in characters of its JSON. */
  olderOutputChars: 500,

  /** Longest text part in an older message, in characters. */
  olderTextChars: 10_000,

  /** The share of the context window that a step may use before the history is compacted. */
  contextHeadroom: 0.9,

  /** How long a turn waits for MCP servers when `waitForMcpConnections` is `true`, in ms. */
  mcpWaitMs: 10_000
} as const;
