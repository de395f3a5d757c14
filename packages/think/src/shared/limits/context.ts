/**
 * The numeric limits of context blocks, with unit and reason.
 */
export const CONTEXT_LIMITS = {
  /** Longest label of a block, in UTF-16 code units: it is a heading of the prompt and part of a key. */
  labelChars: 100,

  /** Longest description of a block, in UTF-16 code units: it stands in a heading of the prompt. */
  descriptionChars: 2_000,

  /** Most blocks of one session. Prompts become useless long before; extensions may add blocks. */
  blocks: 100,

  /** Longest content of one write, in UTF-16 code units: about 100,000 tokens, and at most 1.2 MB of a 2 MB row. */
  contentChars: 400_000,

  /** Longest skill that `load_context` gives to the model, in UTF-16 code units; the rest is cut off and said to be. */
  loadedChars: 400_000,

  /** Longest text that `search_context` gives to the model, in UTF-16 code units. */
  searchResultChars: 40_000,

  /** Longest key of a skill or an entry, in UTF-16 code units; R2 ends at 1,024 bytes. */
  keyChars: 300,

  /** Beginning of a title or a content from which a key is made, in UTF-16 code units. */
  slugChars: 60,

  /** Longest title that a model may give, in UTF-16 code units. */
  titleChars: 1_000,

  /** How long one call of a provider may take, in ms. A provider that hangs must not hold the turn. */
  providerMs: 15_000,

  /** Results of one search. */
  searchResults: 10,

  /** Longest search text in UTF-16 code units, and most words of it that are used: each is one more list to intersect. */
  searchQueryChars: 2_000,
  searchWords: 32,

  /** Most skills that a bucket lists in the prompt, and pages of the listing that are read for them. */
  listedSkills: 10_000,
  listPages: 100,

  /** Longest description of a skill, in UTF-16 code units: a line of the listing, and R2 metadata ends at 8 KB. */
  skillDescriptionChars: 1_000,

  /** Largest skill that is read from a bucket, in bytes. */
  skillBytes: 2 * 1024 * 1024
} as const;
