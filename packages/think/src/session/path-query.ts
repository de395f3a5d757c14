/**
 * SQL that follows parent links from a leaf towards the root, newest message first. Used by the message store.
 *
 * Reads are billed, and a recursive query reads its own queue too: with one message per step a path of n messages costs 2n rows. The
 * whole-path query therefore follows {@link CHAIN} links per step by a chain of joins and costs n + n/{@link CHAIN}.
 */

/** Links per recursion step, bounded by SQLite: 64 tables in a join, 100 columns in a row. */
export const CHAIN = 30;

const links = Array.from({ length: CHAIN }, (_, index) => index);
const columns = links.map((index) => `id${index}, content${index}, size${index}`).join(", ");
const values = links
  .map((index) => `m${index}.id, m${index}.content, octet_length(m${index}.content)`)
  .join(", ");
const joins = links
  .slice(1)
  .map(
    (index) =>
      `LEFT JOIN assistant_messages m${index} ON m${index}.session_id = ?3 AND m${index}.id = m${index - 1}.parent_id`
  )
  .join("\n");
const next = `m${CHAIN - 1}.parent_id`;

/** A whole path of session ?3 from leaf ?1 in at most ?2 rows of {@link CHAIN} messages each, with nulls where the path has ended. */
export const WHOLE_PATH = `WITH RECURSIVE path (next, depth, ${columns}) AS (
  SELECT ${next}, 1, ${values} FROM assistant_messages m0 ${joins} WHERE m0.session_id = ?3 AND m0.id = ?1
  UNION ALL
  SELECT ${next}, path.depth + 1, ${values} FROM path JOIN assistant_messages m0 ON m0.session_id = ?3 AND m0.id = path.next ${joins}
  WHERE path.depth < ?2
) SELECT * FROM path`;

/** One stored message as the queries return it. */
export type PathRow = {
  readonly id: string;
  readonly content: string;
  /** UTF-8 bytes of `content`. */
  readonly size: number;
};

/** The messages of one row of {@link WHOLE_PATH}, newest first. */
export function unchain(row: Readonly<Record<string, unknown>>): PathRow[] {
  return links.flatMap((index) => {
    const id = row[`id${index}`];
    const content = row[`content${index}`];
    const size = row[`size${index}`];
    return typeof id === "string" && typeof content === "string" ? [{ id, content, size: Number(size) }] : [];
  });
}

/**
 * One page of a path of session ?5 from message ?1: at most ?2 messages; the first ?3 whatever they weigh, more only while all
 * together have at most ?4 bytes.
 * `octet_length` reads a row's header only, so a message that does not fit any more is not loaded.
 */
const pathPage = (stop: string): string => `WITH RECURSIVE path (id, parent_id, content, depth, bytes) AS (
  SELECT id, parent_id, content, 1, octet_length(content) FROM assistant_messages
  WHERE session_id = ?5 AND id = ?1 AND (?3 > 0 OR octet_length(content) <= ?4)
  UNION ALL
  SELECT m.id, m.parent_id, m.content, path.depth + 1, path.bytes + octet_length(m.content)
  FROM path JOIN assistant_messages m ON m.session_id = ?5 AND m.id = path.parent_id
  WHERE path.depth < ?2 AND (path.depth < ?3 OR path.bytes + octet_length(m.content) <= ?4) ${stop}
) SELECT id, parent_id, content, octet_length(content) AS size FROM path`;

export const PATH_PAGE = pathPage("");

/** The same, and it ends before a message that ends a compaction: what is summarised is not read. */
export const PATH_PAGE_TO_COMPACTION = pathPage(
  "AND m.id NOT IN (SELECT to_message_id FROM assistant_compactions WHERE session_id = ?5)"
);

/** Sizes along a path of session ?3 from message ?1 without contents, at most ?2 rows. */
export const PATH_SIZES = `WITH RECURSIVE path (id, parent_id, role, size, depth) AS (
  SELECT id, parent_id, role, octet_length(content), 1 FROM assistant_messages WHERE session_id = ?3 AND id = ?1
  UNION ALL
  SELECT m.id, m.parent_id, m.role, octet_length(m.content), path.depth + 1
  FROM path JOIN assistant_messages m ON m.session_id = ?3 AND m.id = path.parent_id
  WHERE path.depth < ?2
) SELECT id, parent_id, role, size FROM path`;
