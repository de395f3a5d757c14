/** Every limit of the workspace tools, with its unit and the reason for its size. */
export const WORKSPACE_TOOL_LIMITS = {
  /** Longest line that `read` and `edit` errors show, in UTF-16 code units. Longer ones are minified code or data. */
  lineChars: 2000,
  /** Most lines one `read` returns: what a model can use at once; `offset` gives the rest. */
  readLines: 2000,
  /** Most text one `read` returns, in UTF-16 code units (about 64,000 tokens), so that long lines cannot flood the context. */
  readChars: 256 * 1024,
  /** Largest file that `read`, `edit` and sniffing load whole, in bytes: a text of this size takes 16 MB of a 128 MB isolate. */
  wholeFileBytes: 8 * 1024 * 1024,
  /** Most bytes that `read` streams through to reach its lines: the largest file the stock workspace accepts. */
  streamBytes: 100 * 1024 * 1024,
  /** Bytes that decide whether a file without a useful type is text. */
  sniffBytes: 4096,
  /** Largest image or PDF handed to the model inline, in bytes: providers refuse more than about 5 MB of base64. */
  inlineMediaBytes: 3.5 * 1024 * 1024,

  /** Matches of `edit` that are counted before it says "more than". */
  countedMatches: 1000,
  /** Lines compared with the wanted text to find the nearest one. */
  comparedLines: 20_000,

  /** Entries per `list` page, unless the model asks for another number, and the most it may ask for. */
  listEntries: 200,
  listEntriesMax: 1000,
  /** Most paths one `find` returns. */
  findPaths: 200,

  /** Most matches one `grep` returns. */
  grepMatches: 200,
  /** Largest file `grep` reads, in bytes. Generated bundles and data files are larger. */
  grepFileBytes: 1024 * 1024,
  /** Most bytes one `grep` reads in total: a few seconds of CPU for the slowest pattern. */
  grepTotalBytes: 64 * 1024 * 1024,
  /** Longest line part that `grep` shows, in UTF-16 code units. */
  grepLineChars: 500,
  /** Most text one `grep` returns, in UTF-16 code units. */
  grepChars: 128 * 1024,
  /** Context lines a model may ask for, on each side. */
  grepContextLines: 10,
  /** Longest search text, in UTF-16 code units. */
  grepQueryChars: 2000,

  /** `bash`: run time in ms, mounted files, bytes per mounted file, and bytes of stdout and stderr each. */
  bashTimeoutMs: 30_000,
  bashFiles: 1000,
  bashFileBytes: 1_000_000,
  bashOutputBytes: 64_000,
  /** Longest script, in UTF-16 code units. */
  bashScriptChars: 256 * 1024,
  /** How long a stopped script may take to acknowledge, in ms, before the tool answers without it. */
  bashGraceMs: 1000,
  /** Paths in each list of a `bash` result. */
  bashListedPaths: 1000
} as const;
