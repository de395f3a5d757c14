/**
 * Databases of the published package have tables of the same names in another layout: a row per stream, a row per flush, random ids. On the
 * first use they are replaced by ours; the stream that was still running then, if any, comes along, so its answer is not lost.
 */
import type { Sql } from "../storage/sql";

interface PublishedStream extends Record<string, string | number | null> {
  id: string;
  request_id: string;
}

/** What the published package left unfinished. */
export interface AdoptedStream {
  readonly id: string;
  readonly requestId: string;
  /** Stored bodies, in order. */
  readonly bodies: readonly string[];
}

/** The columns of the metadata table; none when there is no table. */
export function streamColumns(sql: Sql): readonly string[] {
  return sql
    .exec<{ name: string }>("SELECT name FROM pragma_table_info('cf_ai_chat_stream_metadata')")
    .map(({ name }) => name);
}

/** Whether the metadata table is of the published layout. Our own has the column `slot`. */
export function isPublishedLayout(columns: readonly string[]): boolean {
  return columns.length > 0 && !columns.includes("slot");
}

/** Takes the unfinished stream out and removes the tables. */
export function takePublishedStream(sql: Sql): AdoptedStream | undefined {
  const stream = sql.exec<PublishedStream>(
    "SELECT id, request_id FROM cf_ai_chat_stream_metadata WHERE status = 'streaming' ORDER BY created_at DESC LIMIT 1"
  )[0];
  const chunks = stream
    ? sql.exec<{ body: string }>(
        "SELECT body FROM cf_ai_chat_stream_chunks WHERE stream_id = ? ORDER BY chunk_index",
        stream.id
      )
    : [];
  sql.exec("DROP TABLE IF EXISTS cf_ai_chat_stream_chunks");
  sql.exec("DROP TABLE cf_ai_chat_stream_metadata");
  return stream && { id: stream.id, requestId: stream.request_id, bodies: chunks.map(({ body }) => body) };
}
