/**
 * Every numeric limit of the package, with its unit and the reason for its size. One place, so that a
 * reader can judge them together and the documentation can list them.
 */
export const LIMITS = {
  /**
   * Largest inbound WebSocket frame, in UTF-16 code units. The stock client uploads its whole message list with
   * every request, so this is generous; beyond it parsing would take a noticeable share of a 128 MB isolate.
   */
  inboundFrameChars: 8 * 1024 * 1024,

  /** Deepest nesting of an inbound JSON body; deeper documents are attacks on recursive code, not chats. */
  jsonDepth: 64,

  /** Longest request id a client may choose, in UTF-16 code units (the stock client uses 8). */
  requestIdChars: 200,

  /** Longest message id a client may choose, in UTF-16 code units. */
  messageIdChars: 200,

  /** Most messages in one request. A list this long is uploaded only by a client that never windows. */
  messagesPerRequest: 10_000,

  /** Largest stored message in UTF-8 bytes: SQLite rows in a Durable Object end near 2 MB. */
  messageBytes: 1_800_000,

  /**
   * Buffered stream text that forces a write, in UTF-16 code units. Rows grow with bytes streamed, not with
   * the number of deltas; 16 K keeps a row within a handful of database pages.
   */
  streamFlushChars: 16 * 1024,

  /**
   * Buffered chunks that force a write. Bounds how many chunks somebody may have seen that a crash takes from storage: positions after
   * a crash go on beyond them.
   */
  streamFlushChunks: 2_048,

  /** Longest time a streamed chunk stays only in memory, in ms: what an eviction may cost in text. */
  streamFlushMs: 1_000,

  /** A single chunk above this many UTF-8 bytes is sent to live clients but not stored for replay. */
  streamChunkBytes: 1_800_000,

  /** Model steps in one turn unless the agent says otherwise. */
  maxSteps: 10,

  /** Quiet period of the `debounce` message concurrency, in ms. */
  debounceMs: 750,

  /** How long a continuation waits for further tool answers that arrive together, in ms. */
  continuationDelayMs: 50,

  /** Longest tool call id in a client's answer, in UTF-16 code units; providers use some 30. */
  toolCallIdChars: 500,

  /** Longest tool name in a client's answer, in UTF-16 code units. */
  toolNameChars: 200,

  /** Longest error text of a tool result, in UTF-16 code units; the rest is cut off, because a model needs no more. */
  toolErrorChars: 20_000,

  /** Most client tools in one frame. Models become confused long before. */
  clientToolsPerRequest: 1_000,

  /** Events to a `chat()` callback that may be unanswered at once; beyond them adjacent deltas are held back and merged. */
  callbackEventsInFlight: 16,

  /** Events held back for a `chat()` callback, in UTF-16 code units of their JSON; a turn whose caller is further behind waits. */
  callbackHeldChars: 32 * 1024,

  /** A turn that lasts longer than this arms the keep-alive heartbeat, in ms; shorter ones cost no alarm write. */
  keepAliveAfterMs: 10_000
} as const;
