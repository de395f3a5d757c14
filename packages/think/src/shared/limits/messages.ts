/**
 * The numeric limits of stored messages, with unit and reason. The row limit itself is `LIMITS.messageBytes`.
 */
export const MESSAGE_LIMITS = {
  /** Longest tool output kept in a message that is too large for its row, in characters of its JSON. */
  compactedChars: 1_000,

  /** Beginning of a long text that is kept when the message is too large for its row, in characters. */
  truncatedTextChars: 500,

  /** How deep tool outputs are walked, in levels; what lies below is replaced or left alone as a whole. */
  outputDepth: 8,

  /** Memory for stored messages after a wake, in bytes of stored JSON: a fifth of an isolate, before parsing. */
  hydrationBytes: 24 * 1024 * 1024,

  /** Largest history that is read as one list, in bytes of stored JSON: parsed it fills half an isolate. */
  wholeHistoryBytes: 48 * 1024 * 1024,

  /** One page of older messages unless the caller says otherwise, in bytes of stored JSON. */
  olderPageBytes: 1024 * 1024,

  /** Messages that are in memory whatever they weigh: those the model sees in full. */
  hydrationFloor: 4,

  /** One page of a long read, in rows and in bytes of stored JSON. */
  pageRows: 50,
  pageBytes: 4 * 1024 * 1024,

  /** Rows that one statement reads on a wake; bytes bound it too. */
  windowPageRows: 1_000,

  /**
   * A path of at most so many bytes, and messages of at most so many bytes on average, is read by one statement that takes messages in
   * groups. A group must fit into one SQLite record; above this average it probably would not, so it is not tried.
   */
  wholePathBytes: 8 * 1024 * 1024,
  wholePathAverage: 16 * 1024,

  /** Longest path that is followed, in messages. A longer one is a cycle or damage. */
  pathMessages: 100_000,

  /** Newest messages whose media stays in place, and the smallest number an agent can choose. */
  mediaKeepRecent: 8,
  mediaKeepFloor: 4,

  /** Smallest string that counts as media, in characters; below it a marker would save little. */
  mediaPartBytes: 32 * 1024,

  /** Rows rewritten in one background pass. */
  mediaRowsPerPass: 64,

  /** Rows outside the memory window that are looked at before the place is remembered durably. */
  mediaCheckpointRows: 200
} as const;
