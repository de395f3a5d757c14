/**
 * Tables `cf_ai_chat_stream_metadata` and `cf_ai_chat_stream_chunks`: the running or last stream, durable.
 *
 * Turns are serial, and only one stream can ever be resumed: the running one, or the last one while a client still has to learn
 * how it ended. So the tables hold one stream, and the next one takes over its rows. That makes every start, flush and
 * end one written row, needs no clean-up alarm, and bounds the stored bytes by the longest stream.
 *
 * I1. At most one metadata row. Chunk rows that carry another stream's id are leftovers and are never read.
 * I2. Rows of the stream are numbered 0, 1, 2, ... without gaps.
 */
import type { UIMessageChunk } from "ai";
import { errorText } from "../shared/errors/error-text";
import { lazyTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import { isPublishedLayout, streamColumns, takePublishedStream } from "./adopt-published";
import { unpackChunks } from "./chunk-packing";

export type StreamStatus = "streaming" | "completed" | "error";

/** The stored facts of a stream. */
export interface StreamRecord {
  readonly id: string;
  readonly requestId: string;
  readonly status: StreamStatus;
  /** The id under which the assistant message is (or will be) stored. */
  readonly messageId: string;
  readonly continuation: boolean;
  /** What clients are told when `status` is `error`. */
  readonly error: string | null;
  /** Whether a completed stream was stopped. The stored status knows no such end; those who come back must still be told. */
  readonly aborted?: boolean;
  /** The message that the answer goes below, when that is not the leaf. */
  readonly parentId?: string | undefined;
  /** What is needed to run the turn again, as JSON; only while it runs. */
  readonly turn?: string | null | undefined;
  /** What the author stashed during the turn, as JSON; only while it runs. */
  readonly stash?: string | null;
  /** Durable writes of streamed work before this stream; once it has ended, its own included. */
  readonly progress: number;
  /** When the stream began, in ms. */
  readonly createdAt: number;
  /** The user messages that the request ended with. Not stored: after an eviction clients are not told them any more. */
  readonly messageIds?: readonly string[] | undefined;
  /** The session whose turn it is. Default: the primary one. */
  readonly sessionId?: string;
}

export interface StreamStore {
  /** The running or last stream. */
  load(): StreamRecord | null;
  /** Makes this the stream of the tables. */
  save(record: StreamRecord): void;
  /** Writes one packed row. */
  writeRow(streamId: string, index: number, body: string): void;
  /** All stored chunks of a stream, in order. `rows`, when known, spares reading what an earlier, longer stream left. */
  chunks(streamId: string, rows?: number): UIMessageChunk[];
  /** How many rows of a stream are stored. */
  countRows(streamId: string): number;
  /** Forgets the stream and all rows. */
  clear(): void;
}

const METADATA = `CREATE TABLE IF NOT EXISTS cf_ai_chat_stream_metadata (
  slot INTEGER PRIMARY KEY CHECK (slot = 0),
  id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  message_id TEXT,
  is_continuation INTEGER,
  error_message TEXT,
  is_aborted INTEGER NOT NULL DEFAULT 0,
  parent_id TEXT,
  turn TEXT,
  stash TEXT,
  progress INTEGER NOT NULL DEFAULT 0,
  session_id TEXT NOT NULL DEFAULT ''
)`;

/** Columns that tables of earlier builds lack. */
const ADDED = {
  parent_id: "TEXT",
  turn: "TEXT",
  stash: "TEXT",
  progress: "INTEGER NOT NULL DEFAULT 0",
  session_id: "TEXT NOT NULL DEFAULT ''"
};

const CHUNKS = `CREATE TABLE IF NOT EXISTS cf_ai_chat_stream_chunks (
  chunk_index INTEGER PRIMARY KEY,
  stream_id TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
)`;

const SAVE = `INSERT INTO cf_ai_chat_stream_metadata
  (slot, id, request_id, status, created_at, completed_at, message_id, is_continuation, error_message, is_aborted,
   parent_id, turn, stash, progress, session_id)
  VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (slot) DO UPDATE SET id = excluded.id, request_id = excluded.request_id, status = excluded.status, created_at = excluded.created_at, completed_at = excluded.completed_at, message_id = excluded.message_id,
    is_continuation = excluded.is_continuation, error_message = excluded.error_message, is_aborted = excluded.is_aborted, parent_id = excluded.parent_id,
    turn = excluded.turn, stash = excluded.stash, progress = excluded.progress, session_id = excluded.session_id`;

const WRITE = `INSERT INTO cf_ai_chat_stream_chunks (chunk_index, stream_id, body, created_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (chunk_index) DO UPDATE SET stream_id = excluded.stream_id, body = excluded.body, created_at = excluded.created_at`;

export interface StreamStoreOptions {
  readonly sql: Sql;
  readonly now: () => number;
}

export function createStreamStore(options: StreamStoreOptions): StreamStore {
  return new SqlStreamStore(options);
}

class SqlStreamStore implements StreamStore {
  readonly #sql: Sql;
  readonly #now: () => number;
  readonly #createMetadata: () => void;
  readonly #ensureChunks: () => void;
  #isAdopted = false;

  constructor({ sql, now }: StreamStoreOptions) {
    this.#sql = sql;
    this.#now = now;
    this.#createMetadata = lazyTable(sql, METADATA);
    this.#ensureChunks = lazyTable(sql, CHUNKS);
  }

  load(): StreamRecord | null {
    // A wake looks here: an agent that never chats must not pay for tables, and one that does not for looking at their columns.
    const row = this.#read();
    if (!row) return null;
    if (!("session_id" in row)) {
      this.#ensureMetadata();
      return this.load();
    }
    this.#isAdopted = true;
    return toRecord(row);
  }

  #read(): MetadataRow | undefined {
    try {
      return this.#sql.exec<MetadataRow>("SELECT * FROM cf_ai_chat_stream_metadata WHERE slot = 0")[0];
    } catch (error) {
      if (errorText(error).includes("no such table")) return undefined;
      if (this.#isAdopted || !errorText(error).includes("no such column")) throw error;
      this.#ensureMetadata();
      return this.#read();
    }
  }

  save(record: StreamRecord): void {
    this.#ensureMetadata();
    this.#save(record);
  }

  writeRow(streamId: string, index: number, body: string): void {
    this.#ensureChunks();
    this.#sql.exec(WRITE, index, streamId, body, this.#now());
  }

  chunks(streamId: string, rows = Number.MAX_SAFE_INTEGER): UIMessageChunk[] {
    this.#ensureChunks();
    const stored = this.#sql.exec<{ body: string }>(
      "SELECT body FROM cf_ai_chat_stream_chunks WHERE chunk_index < ? AND stream_id = ? ORDER BY chunk_index",
      rows,
      streamId
    );
    return stored.flatMap((row) => unpackChunks(row.body));
  }

  countRows(streamId: string): number {
    this.#ensureChunks();
    const rows = this.#sql.exec<{ count: number }>(
      "SELECT count(*) AS count FROM cf_ai_chat_stream_chunks WHERE stream_id = ?",
      streamId
    );
    return rows[0]?.count ?? 0;
  }

  clear(): void {
    this.#ensureMetadata();
    this.#ensureChunks();
    this.#sql.exec("DELETE FROM cf_ai_chat_stream_metadata");
    this.#sql.exec("DELETE FROM cf_ai_chat_stream_chunks");
  }

  #ensureMetadata(): void {
    if (!this.#isAdopted) this.#upgrade();
    this.#isAdopted = true;
    this.#createMetadata();
  }

  #upgrade(): void {
    const columns = streamColumns(this.#sql);
    if (isPublishedLayout(columns)) this.#sql.transaction(() => this.#adopt());
    else if (columns.length > 0)
      for (const [column, type] of Object.entries(ADDED))
        if (!columns.includes(column))
          this.#sql.exec(`ALTER TABLE cf_ai_chat_stream_metadata ADD COLUMN ${column} ${type}`);
  }

  /** What the published package left unfinished becomes an orphan of ours. */
  #adopt(): void {
    const stream = takePublishedStream(this.#sql);
    if (!stream) return;
    const { id, requestId, bodies } = stream;
    this.#createMetadata();
    const start = { id, requestId, messageId: id, continuation: false, progress: 0, createdAt: this.#now() };
    this.#save({ ...start, status: "streaming", error: null });
    for (const [index, body] of bodies.entries()) this.writeRow(id, index, body);
  }

  #save(record: StreamRecord): void {
    const { id, requestId, status, messageId, continuation, error, aborted, createdAt, progress } = record;
    const ended = status === "streaming" ? null : this.#now();
    const flags = [continuation ? 1 : 0, error, aborted ? 1 : 0] as const;
    const turn = [record.parentId ?? null, record.turn ?? null, record.stash ?? null, progress] as const;
    const place = record.sessionId ?? "";
    this.#sql.exec(SAVE, id, requestId, status, createdAt, ended, messageId, ...flags, ...turn, place);
  }
}

interface MetadataRow extends Record<string, string | number | null> {
  id: string;
  request_id: string;
  status: string;
  message_id: string | null;
  is_continuation: number | null;
  error_message: string | null;
  is_aborted: number;
  parent_id: string | null;
  turn: string | null;
  stash: string | null;
  progress: number;
  created_at: number;
  session_id: string;
}

function toRecord(row: MetadataRow): StreamRecord {
  return {
    id: row.id,
    requestId: row.request_id,
    status: row.status as StreamStatus,
    messageId: row.message_id ?? row.id,
    continuation: row.is_continuation === 1,
    error: row.error_message,
    aborted: row.is_aborted === 1,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    turn: row.turn,
    stash: row.stash,
    progress: row.progress,
    createdAt: row.created_at,
    sessionId: row.session_id
  };
}
