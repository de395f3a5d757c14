/**
 * What each tool needs from a storage. A plain object with these methods is enough; methods marked optional make a tool
 * cheaper or its answers better, and are never required.
 */
import type { ContentEntry } from "../../workspace/stock-workspace";
import type { EntryInfo, MaybePromise, ReadDirOptions, RemoveOptions } from "../../workspace/workspace-like";

interface EntryReads {
  /** Optional: entry and content in one round trip, content up to `maxBytes`. */
  readEntry?(path: string, maxBytes: number): Promise<ContentEntry | null>;
}

export interface ReadOperations extends EntryReads {
  readFile(path: string): Promise<string | null>;
  readFileBytes(path: string): Promise<Uint8Array | null>;
  stat(path: string): MaybePromise<EntryInfo | null>;
  /** Optional: lets `read` take lines from files that are too large to load. */
  readFileStream?(path: string): Promise<ReadableStream<Uint8Array> | null>;
}

export interface WriteOperations {
  writeFile(path: string, content: string): Promise<void>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): MaybePromise<void>;
  /** Optional: true when `writeFile` creates missing parent directories itself. */
  readonly createsParents?: boolean;
  /** Optional: lets `write` refuse a path that is a directory. */
  stat?(path: string): MaybePromise<EntryInfo | null>;
}

export interface EditOperations extends EntryReads {
  readFile(path: string): Promise<string | null>;
  writeFile(path: string, content: string): Promise<void>;
  /** Optional: lets `edit` refuse binary files and files that are too large. */
  readFileBytes?(path: string): Promise<Uint8Array | null>;
  stat?(path: string): MaybePromise<EntryInfo | null>;
}

export interface ListOperations {
  readDir(path: string, options?: ReadDirOptions): MaybePromise<EntryInfo[]>;
  /** Optional: lets `list` say that a directory does not exist. */
  stat?(path: string): MaybePromise<EntryInfo | null>;
}

export interface FindOperations {
  glob(pattern: string): MaybePromise<EntryInfo[]>;
  /** Optional: all entries under a path prefix, by path. */
  scan?(prefix: string): AsyncIterable<EntryInfo>;
}

export interface GrepOperations {
  glob(pattern: string): MaybePromise<EntryInfo[]>;
  readFile(path: string): Promise<string | null>;
  /** Optional: all entries under a path prefix, with the content of those that end with `suffix`. */
  scanContent?(prefix: string, suffix: string, maxBytes: number): AsyncIterable<ContentEntry>;
}

export interface DeleteOperations {
  rm(path: string, options?: RemoveOptions): Promise<void>;
}

export interface BashOperations {
  readDir(path: string, options?: ReadDirOptions): MaybePromise<EntryInfo[]>;
  readFileBytes(path: string): Promise<Uint8Array | null>;
  /** A storage without types ignores `mimeType`; it is only given to keep the type of an existing file. */
  writeFile(path: string, content: string, mimeType?: string): Promise<void>;
  /** Optional: without it binary files cannot be written back. */
  writeFileBytes?(path: string, content: Uint8Array, mimeType?: string): Promise<void>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): MaybePromise<void>;
  rm(path: string, options?: RemoveOptions): Promise<void>;
  /** Optional: up to `limit` entries of a directory in any order, where that is cheaper than pages. */
  readWholeDir?(path: string, limit: number): MaybePromise<EntryInfo[]>;
  /** Optional: one entry, links not followed. Without it a whole directory is listed to find one name. */
  lstat?(path: string): MaybePromise<EntryInfo | null>;
}
