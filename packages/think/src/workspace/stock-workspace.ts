/**
 * A faster door into the stock workspace. Its public methods cost one statement per file (two, with the symbolic link
 * check), so a `grep` over 1,000 files is 2,000 statements; the same table answers with ten. Only reads go through here:
 * every change uses the public methods, so that R2 spilling, `onChange` and observability keep working.
 *
 * Invariants
 * 1. Only an unmodified instance of the stock class is accepted; a subclass, a proxy or a patched method means that
 *    someone wants to see the calls, and gets the plain interface instead.
 * 2. Queries over many entries (`list`, `find`, `grep`) never name a column behind `content`, so SQLite does not walk the content's
 *    overflow pages. Those for `bash` do name one: scripts look at dates.
 * 3. No query over a subtree returns more than `PAGE_ROWS` rows or `CONTENT_PAGE_ROWS` small contents; a directory is read up to a limit.
 */
import { Workspace } from "@cloudflare/shell";
import { normalizePath, parentOf } from "./paths";
import type { EntryInfo, ReadDirOptions } from "./workspace-like";

/** An entry and, when asked for and small enough, its content: text as stored, or bytes. */
export interface ContentEntry {
  readonly info: EntryInfo;
  /** Absent for directories, for content above the limit, and for content that lives in R2. */
  readonly content?: string | Uint8Array;
}

/** What the tools may use instead of one call per file. */
export interface FastReads {
  /** The entry itself with its date, symbolic links not followed. One row. */
  lstat(path: string): Promise<EntryInfo | null>;
  /** The entry with its content, symbolic links followed. One row per link, one for the file. */
  readEntry(path: string, maxBytes: number): Promise<ContentEntry | null>;
  readDir(path?: string, options?: ReadDirOptions): Promise<EntryInfo[]>;
  /** Up to `limit` entries of a directory with their dates, in no particular order: sorted pages would read every row once per page. */
  readWholeDir(path: string, limit: number): Promise<EntryInfo[]>;
  /** The bytes of a file, symbolic links followed. */
  readFileBytes(path: string): Promise<Uint8Array | null>;
  /** All entries whose path starts with `prefix`, by path. Metadata only. */
  scan(prefix: string): AsyncIterable<EntryInfo>;
  /** Like `scan`, with the content of files that end with `suffix` and have at most `maxBytes`. */
  scanContent(prefix: string, suffix: string, maxBytes: number): AsyncIterable<ContentEntry>;
}

/** Rows of metadata per statement. */
const PAGE_ROWS = 1000;
/** Rows per statement that may carry content, and the largest content of each, in bytes: at most 8 MB in memory. */
const CONTENT_PAGE_ROWS = 128;
const PAGED_CONTENT_BYTES = 64 * 1024;
/** Largest directory that is sorted in memory, in rows: some 6 MB. */
const SORTED_ROWS = 20_000;
/** As many links as the stock workspace follows. */
const MAX_LINKS = 40;

const METADATA = "path, name, type, mime_type, size, target";
/** With the date, which lies behind the content. */
const DATED = `${METADATA}, modified_at`;

interface Row {
  readonly path: string;
  readonly name: string;
  readonly type: EntryInfo["type"];
  readonly mime_type: string;
  readonly size: number;
  readonly target?: string | null;
  /** In seconds. */
  readonly modified_at?: number;
  readonly storage_backend?: string;
  readonly content_encoding?: string;
  readonly content?: string | null;
}

interface SqlBackend {
  query(sql: string, ...parameters: (string | number)[]): Row[] | Promise<Row[]>;
}

interface RowQuery {
  readonly columns: string;
  /** Values of the placeholders in `columns`. */
  readonly parameters: readonly (string | number)[];
  readonly pageRows: number;
}

const methods = ["readFile", "readFileBytes", "readDir", "glob", "stat", "lstat"] as const;

/** The fast reads of a stock workspace, or undefined for every other storage. */
export function fastReads(workspace: object): FastReads | undefined {
  if (!(workspace instanceof Workspace) || Object.getPrototypeOf(workspace) !== Workspace.prototype)
    return undefined;
  if (methods.some((method) => Object.hasOwn(workspace, method))) return undefined;
  // Private to TypeScript only. The shape is checked, so that another release falls back instead of failing.
  const { sql, tableName }: { sql?: unknown; tableName?: unknown } = Object(workspace);
  if (!isBackend(sql) || typeof tableName !== "string") return undefined;
  return new StockReads(workspace, sql, tableName);
}

function isBackend(value: unknown): value is SqlBackend {
  return typeof value === "object" && value !== null && "query" in value && typeof value.query === "function";
}

class StockReads implements FastReads {
  readonly #workspace: Workspace;
  readonly #sql: SqlBackend;
  readonly #table: string;

  constructor(workspace: Workspace, sql: SqlBackend, table: string) {
    this.#workspace = workspace;
    this.#sql = sql;
    this.#table = table;
  }

  async lstat(path: string): Promise<EntryInfo | null> {
    const [row] = await this.#query(`SELECT ${DATED} FROM ${this.#table} WHERE path = ?`, path);
    return row === undefined ? null : toInfo(row);
  }

  async readEntry(path: string, maxBytes: number): Promise<ContentEntry | null> {
    let current = path;
    for (let links = 0; links <= MAX_LINKS; links++) {
      const [row] = await this.#query(
        `SELECT ${METADATA}, storage_backend, content_encoding, CASE WHEN size <= ? THEN content END AS content
         FROM ${this.#table} WHERE path = ?`,
        maxBytes,
        current
      );
      if (row === undefined) return null;
      if (row.type !== "symlink" || !row.target) return toContentEntry(row, maxBytes);
      current = normalizePath(row.target.startsWith("/") ? row.target : `${parentOf(current)}/${row.target}`);
    }
    throw new Error(`ELOOP: too many levels of symbolic links: ${path}`);
  }

  async readDir(path = "/", options: ReadDirOptions = {}): Promise<EntryInfo[]> {
    const directory = normalizePath(path);
    const { limit = PAGE_ROWS, offset = 0 } = options;
    const select = `SELECT ${METADATA} FROM ${this.#table} WHERE parent_path = ?`;
    // Sorted by the database each row would be read, and billed, twice.
    const rows = await this.#query(`${select} LIMIT ?`, directory, SORTED_ROWS + 1);
    if (rows.length <= SORTED_ROWS) {
      return rows
        .toSorted(byTypeAndName)
        .slice(offset, offset + limit)
        .map(toInfo);
    }
    const sorted = `${select} ORDER BY type ASC, name ASC LIMIT ? OFFSET ?`;
    return (await this.#query(sorted, directory, limit, offset)).map(toInfo);
  }

  async readWholeDir(path: string, limit: number): Promise<EntryInfo[]> {
    const rows = await this.#query(
      `SELECT ${DATED} FROM ${this.#table} WHERE parent_path = ? LIMIT ?`,
      normalizePath(path),
      limit
    );
    return rows.map(toInfo);
  }

  async readFileBytes(path: string): Promise<Uint8Array | null> {
    const entry = await this.readEntry(path, Number.MAX_SAFE_INTEGER);
    if (entry === null) return null;
    const { content } = entry;
    if (typeof content === "string") return new TextEncoder().encode(content);
    // Directories (an error) and files in R2.
    return content ?? (await this.#workspace.readFileBytes(path));
  }

  async *scan(prefix: string): AsyncIterable<EntryInfo> {
    for await (const row of this.#rows(prefix, { columns: METADATA, parameters: [], pageRows: PAGE_ROWS }))
      yield toInfo(row);
  }

  async *scanContent(prefix: string, suffix: string, maxBytes: number): AsyncIterable<ContentEntry> {
    const inlineBytes = Math.min(maxBytes, PAGED_CONTENT_BYTES);
    const suffixTest = suffix === "" ? "" : "AND substr(path, -length(?)) = ?";
    const rows = this.#rows(prefix, {
      columns: `${METADATA}, storage_backend, content_encoding,
        CASE WHEN type = 'file' AND size <= ? ${suffixTest} THEN content END AS content`,
      parameters: suffix === "" ? [inlineBytes] : [inlineBytes, suffix, suffix],
      pageRows: CONTENT_PAGE_ROWS
    });
    for await (const row of rows) yield await this.#withContent(row, { inlineBytes, maxBytes, suffix });
  }

  /** Pages over the primary key. A prefix that ends with `/` names a subtree (without the directory itself). */
  async *#rows(prefix: string, query: RowQuery): AsyncIterable<Row> {
    const select = `SELECT ${query.columns} FROM ${this.#table}`;
    if (!prefix.endsWith("/")) {
      yield* await this.#query(`${select} WHERE path = ?`, ...query.parameters, prefix);
      return;
    }
    // "0" is the character after "/", so this bound ends the subtree.
    const end = `${prefix.slice(0, -1)}0`;
    for (let after: string | undefined = prefix; after !== undefined;) {
      const rows: Row[] = await this.#query(
        `${select} WHERE path > ? AND path < ? ORDER BY path LIMIT ?`,
        ...query.parameters,
        after,
        end,
        query.pageRows
      );
      yield* rows;
      after = rows.length < query.pageRows ? undefined : rows.at(-1)?.path;
    }
  }

  /** Content too large for a page is read alone, so that one page never holds many of them. */
  async #withContent(
    row: Row,
    limits: { readonly inlineBytes: number; readonly maxBytes: number; readonly suffix: string }
  ): Promise<ContentEntry> {
    const wanted = row.type === "file" && row.size <= limits.maxBytes && row.path.endsWith(limits.suffix);
    if (!wanted) return { info: toInfo(row) };
    if (row.size <= limits.inlineBytes && row.storage_backend !== "r2")
      return toContentEntry(row, limits.inlineBytes);
    const content = await this.#workspace.readFileBytes(row.path);
    return content === null ? { info: toInfo(row) } : { info: toInfo(row), content };
  }

  async #query(sql: string, ...parameters: (string | number)[]): Promise<Row[]> {
    try {
      return await this.#sql.query(sql, ...parameters);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("no such table")) throw error;
      // The stock class creates its table on first use; this is the cheapest public call that does.
      await this.#workspace.exists("/");
      return await this.#sql.query(sql, ...parameters);
    }
  }
}

function byTypeAndName(left: Row, right: Row): number {
  return compareText(left.type, right.type) || compareText(left.name, right.name);
}

/** As SQLite compares text: by code points, where JavaScript's own order puts surrogates before U+E000. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = rank(left.charCodeAt(index)) - rank(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  if (unit < 0xd8_00) return unit;
  return unit < 0xe0_00 ? unit + 0x20_00 : unit - 0x8_00;
}

function toInfo(row: Row): EntryInfo {
  return {
    path: row.path,
    name: row.name,
    type: row.type,
    mimeType: row.mime_type,
    size: row.size,
    ...(row.target ? { target: row.target } : {}),
    ...(row.modified_at === undefined ? {} : { updatedAt: row.modified_at * 1000 })
  };
}

function toContentEntry(row: Row, maxBytes: number): ContentEntry {
  const info = toInfo(row);
  if (row.type !== "file" || row.storage_backend === "r2" || row.size > maxBytes) return { info };
  const stored = row.content ?? "";
  return { info, content: row.content_encoding === "base64" ? fromBase64(stored) : stored };
}

function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
