/**
 * The workspace as the rest of the package sees it. `this.workspace` and `createWorkspaceTools` accept anything of
 * this shape: the stock class of `@cloudflare/shell`, a proxy to a parent's workspace, or your own storage.
 */
import type { FileInfo } from "@cloudflare/shell";

export type { FileInfo };

/** What a method may return when a synchronous storage implements it. */
export type MaybePromise<T> = T | Promise<T>;

/** The part of a directory entry that the tools use. Every `FileInfo` is one; `size` is in bytes. */
export type EntryInfo = Pick<FileInfo, "path" | "name" | "type" | "mimeType" | "size"> &
  Partial<Pick<FileInfo, "createdAt" | "updatedAt" | "target">>;

export interface ReadDirOptions {
  /** Most entries to return. Default: 1000. */
  readonly limit?: number;
  /** Entries to skip. Default: 0. */
  readonly offset?: number;
}

export interface RemoveOptions {
  /** Remove a directory with everything in it. Default: false. */
  readonly recursive?: boolean;
  /** Do not fail when the path does not exist. Default: false. */
  readonly force?: boolean;
}

/** The narrow workspace contract: absolute paths, `null` for a missing file. */
export interface WorkspaceLike {
  readFile(path: string): Promise<string | null>;
  readFileBytes(path: string): Promise<Uint8Array | null>;
  /** `mimeType` is only given to keep the type of an existing file; a storage without types ignores it. */
  writeFile(path: string, content: string, mimeType?: string): Promise<void>;
  /** Optional. Without it binary files cannot be written. */
  writeFileBytes?(path: string, content: Uint8Array, mimeType?: string): Promise<void>;
  readDir(path?: string, options?: ReadDirOptions): MaybePromise<EntryInfo[]>;
  rm(path: string, options?: RemoveOptions): Promise<void>;
  glob(pattern: string): MaybePromise<EntryInfo[]>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): MaybePromise<void>;
  stat(path: string): MaybePromise<EntryInfo | null>;
  /** Optional: like `stat`, symbolic links not followed. */
  lstat?(path: string): MaybePromise<EntryInfo | null>;
  /** Optional: lets `read` take lines from files that are too large to load. */
  readFileStream?(path: string): Promise<ReadableStream<Uint8Array> | null>;
}
