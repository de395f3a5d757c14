/**
 * The numeric limits of agent-tool runs on the child's side, with unit and reason.
 */
export const CHILD_RUN_LIMITS = {
  /** Longest run id, in UTF-16 code units; the parents of the Agents SDK use some 40. */
  runIdChars: 500,

  /** Largest input that is kept until the run has its turn, in UTF-16 code units of its JSON: it shares a row with the rest. */
  inputChars: 500_000,

  /** Largest stored output of a run, in UTF-16 code units of its JSON: child and parent each keep it in one row. */
  outputChars: 500_000,

  /** Longest stored summary, in UTF-16 code units; the rest is cut off. The parent's model reads it. */
  summaryChars: 200_000,

  /** Longest stored error or reason, in UTF-16 code units; the rest is cut off. */
  errorChars: 10_000,

  /** Longest time each of the author's formatting hooks may take, in ms: the parent waits for them. */
  hookMs: 30_000,

  /** Chunk text that one read of a tail carries, in UTF-16 code units. A reader that is behind gets it in pages of this size. */
  tailPageChars: 64 * 1024,

  /** Chunk text of a running turn kept in memory for the tails that keep up, in UTF-16 code units; others read from storage. */
  recentChars: 64 * 1024,

  /** Tails of one run that may break in a row without a chunk between them before its parent gives up: a child that crashes at every start must not be woken for ever. */
  brokenTails: 5,

  /** Pause between two looks at a run that somebody else follows, in ms: one row read each, and the answer is not needed sooner. */
  followerPollMs: 250,

  /** Pause between two questions to a child whose run nobody follows, in ms: each is a call to another object. */
  childPollMs: 1_000,

  /** Questions in a row that a child may leave unanswered before its run is left to the base class: one call may fail by chance. */
  unreachableTimes: 3
} as const;
