/** Every limit of the orchestrator's building blocks, with its unit and the reason for its size. */
export const ORCHESTRATOR_LIMITS = {
  /** Most tools one bridge shares: models grow unreliable long before. */
  sharedTools: 128,
  /** Longest description of one tool and longest JSON Schema, in UTF-16 code units: more is no description. */
  descriptionChars: 8000,
  schemaChars: 64_000,
  /** Largest input of one call, in UTF-16 code units of its JSON: a file that a model wrote. */
  inputChars: 1_000_000,
  /** Largest result of one call, in UTF-16 code units of its JSON: more than a model can read, less than a message may weigh. */
  resultChars: 512_000,
  /** Longest error text of a tool that crosses, in UTF-16 code units. */
  errorChars: 4000,
  /** Time of one call in ms: as long as a remote MCP server may take. */
  callTimeoutMs: 60_000,
  /** How much longer the child waits than the parent, in ms, before it takes the parent for lost. */
  graceMs: 5000,
  /** Time of one file operation or of asking for the tools, in ms. */
  operationTimeoutMs: 30_000,
  /** Calls that one bridge runs at once: every child of a parent together. */
  concurrentCalls: 64,
  /** Longest id of a call, in UTF-16 code units. */
  callIdChars: 128,
  /** Largest file that crosses in either direction, in bytes: RPC messages end at 32 MB, and two isolates hold it. */
  fileBytes: 8 * 1024 * 1024,
  /** Most entries of one listing or glob. */
  entries: 10_000,

  /** Longest name of a child, in UTF-16 code units: it is part of an address. */
  childNameChars: 256,
  /** Longest title, in UTF-16 code units: one line in a list. */
  titleChars: 200,
  /** Largest metadata of one child, in UTF-16 code units of its JSON: a few labels, not a document. */
  metadataChars: 16_000,
  /** Children in one registry: they all live inside one object. */
  children: 1000,
  /** Records per page of a list, unless asked otherwise, and the most that may be asked for. */
  listed: 100,
  listedMax: 1000
} as const;
