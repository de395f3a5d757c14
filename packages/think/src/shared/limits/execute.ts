/** Every limit of the `execute` tool, with its unit and the reason for its size. */
export const EXECUTE_LIMITS = {
  /** Run time of one pass of sandbox code in ms, tool calls included: as long as a person waits for a tool. */
  timeoutMs: 30_000,
  /** How long after the time limit the host waits for the sandbox to notice by itself, in ms. */
  graceMs: 1000,
  /** Longest result that the model is shown, in UTF-16 code units of its JSON: 6,000 tokens of 4. */
  resultChars: 24_000,
  /** Longest arguments of a waiting call in the transcript, in UTF-16 code units of their JSON. The full ones stay in the runtime. */
  pendingArgsChars: 2000,
  /** Longest code, in UTF-16 code units: what one row of the runtime's log holds. */
  codeChars: 1_000_000,
  /** Console output that is kept per pass, in UTF-16 code units: as much as a result. */
  logChars: 24_000,
  /** Console output that is repeated in an error, in UTF-16 code units. */
  errorLogChars: 4000,
  /** Longest error, in UTF-16 code units. */
  errorChars: 4000,
  /** Most calls out of the sandbox in one pass: each one is logged, so each one costs rows. */
  calls: 1000,
  /** Largest arguments of one call, in UTF-16 code units of their JSON: what one row of the runtime's log holds. */
  argsChars: 1_000_000,
  /** Nesting of arguments: deeper data is no data but an attack on whoever walks it. */
  argsDepth: 64,
  /** Longest glob of `state.*` in UTF-16 code units and most wildcards in it: it is matched by backtracking, in the agent itself. */
  globChars: 512,
  globWildcards: 8,
  /** Loop rounds and function calls between two looks at the clock. */
  ticksPerLook: 1024,
  /** The outcome of an execution whose tool call is gone, as told in a message, in UTF-16 code units. */
  outcomeChars: 4000,
  /** Sets of packages that one isolate keeps bundled; an agent class has one or two, and each is up to some megabytes of text. */
  bundledSets: 4
} as const;
