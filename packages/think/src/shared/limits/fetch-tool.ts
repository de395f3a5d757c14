/** Every limit of the `fetch` tool, with its unit and the reason for its size. */
export const FETCH_TOOL_LIMITS = {
  /** Longest URL that is taken from the model, in UTF-16 code units: what browsers and servers agree on. */
  urlChars: 2048,
  /** Longest URL part that an error shows, in UTF-16 code units. */
  shownUrlChars: 200,
  /** All requests of one call and the reading of the body together, in ms. */
  timeoutMs: 15_000,
  /** Bytes of a body that are read: pages above it are data. Decompressed, so that a small answer cannot become a large one. */
  bodyBytes: 2 * 1024 * 1024,
  /** Characters of content that one call returns: about 12,000 tokens. `offset` gives the rest. */
  contentChars: 50_000,
  /** Redirects that are followed, each checked like the first URL. */
  redirects: 5,
  /** Longest page title, in UTF-16 code units. */
  titleChars: 300,
  /** Deepest list or quotation that keeps its indentation; deeper ones stay at this level. */
  nesting: 12,
  /** Entries of an allow-list. More are a sign that a rule is missing. */
  allowEntries: 1000
} as const;
