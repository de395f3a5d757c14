/**
 * Table `cf_agent_tool_child_chunks`: chunks of runs whose stream had to give its rows to another one. The tables of the stream hold one
 * stream (`design/stream.md`), and a child that serves one run never has another: it pays nothing here.
 *
 * I1. One row per moved stream, unless it is larger than a row may be.
 */
import type { UIMessageChunk } from "ai";
import { LIMITS } from "../shared/limits";
import { missableTable, type MissableTable } from "../storage/lazy-table";
import type { Sql } from "../storage/sql";
import { ChunkPack, unpackChunks } from "../stream/chunk-packing";

const TABLE = "cf_agent_tool_child_chunks";

const CREATE = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  run_id TEXT NOT NULL,
  first_sequence INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (run_id, first_sequence)
) WITHOUT ROWID`;

/** Chunks that follow each other without a gap. */
export interface Segment {
  /** The place of the first one. */
  readonly first: number;
  readonly chunks: readonly UIMessageChunk[];
}

export class ChunkArchive {
  readonly #table: MissableTable;

  constructor(sql: Sql) {
    this.#table = missableTable(sql, TABLE, () => void sql.exec(CREATE));
  }

  /** The moved chunks of a run, in order. */
  segments(runId: string): Segment[] {
    const rows = this.#table.query<{ first_sequence: number; body: string }>(
      `SELECT first_sequence, body FROM ${TABLE} WHERE run_id = ? ORDER BY first_sequence`,
      runId
    );
    return rows.map(({ first_sequence, body }) => ({ first: first_sequence, chunks: unpackChunks(body) }));
  }

  add(runId: string, { first, chunks }: Segment): void {
    const pack = new ChunkPack({ counted: true });
    let start = first;
    const write = () => {
      if (pack.isEmpty) return;
      this.#table.exec(
        `INSERT OR REPLACE INTO ${TABLE} (run_id, first_sequence, body) VALUES (?, ?, ?)`,
        runId,
        start,
        pack.pack()
      );
      start += pack.count;
      pack.clear();
    };
    for (const chunk of chunks) {
      const chars = JSON.stringify(chunk).length;
      // A character is at most three bytes of UTF-8.
      if ((pack.chars + chars) * 3 > LIMITS.streamChunkBytes) write();
      pack.add(chunk, chars);
    }
    write();
  }

  /** The conversation was cleared, and what was said in it with it. */
  clear(): void {
    this.#table.query(`DELETE FROM ${TABLE}`);
  }
}
