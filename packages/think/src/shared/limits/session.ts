/** The numeric limits of sessions, with unit and reason. */
export const SESSION_LIMITS = {
  /** Longest session id and name, in UTF-16 code units. */
  idChars: 200,
  nameChars: 500,

  /** Longest model, source and end reason of a session, in UTF-16 code units: they are names, too. */
  noteChars: 1_000,

  /** Longest label of a branch, in UTF-16 code units: it stands on a button. */
  labelChars: 200,

  /** Most sessions of one agent; beyond it listing them is no longer an answer for people. */
  sessions: 10_000,

  /** Text of one message that is searchable, in UTF-16 code units: an index entry must not outgrow its message. */
  indexedChars: 100_000,

  /** Longest search, in UTF-16 code units and in words. */
  queryChars: 1_000,
  queryWords: 32,

  /** Results of a search unless the caller says otherwise, and the most there are. */
  searchDefault: 20,
  searchResults: 200,

  /** Results of the model's `session_search`, and the text of each, in UTF-16 code units: ten of them fit into a step. */
  toolSearchResults: 10,
  searchExcerptChars: 2_000,

  /** Largest export held in memory as one text, in UTF-16 code units; `exportSessionStream` has no limit. */
  exportChars: 32 * 1024 * 1024,

  /** Largest document that can be imported, in UTF-16 code units, and most messages in it. */
  importChars: 64 * 1024 * 1024,
  importMessages: 100_000,

  /** Deepest nesting of a message in a document: code that walks messages calls itself. What models say is never near it. */
  importDepth: 1_000,

  /** Longest summary and context block in a document, in UTF-16 code units: at most 1.5 MB of a 2 MB row. */
  importTextChars: 500_000
} as const;
