/** What a mount reads from, how much, and what it tells about what it left out. */
import type { EntryInfo, MaybePromise, ReadDirOptions } from "../workspace-like";

export interface MountSource {
  readDir(path: string, options?: ReadDirOptions): MaybePromise<EntryInfo[]>;
  readFileBytes(path: string): Promise<Uint8Array | null>;
  /** Optional: up to `limit` entries of a directory in any order, where that is cheaper than pages. */
  readWholeDir?(path: string, limit: number): MaybePromise<EntryInfo[]>;
  /** Optional: one entry, links not followed. Without it the whole directory is listed to find one name. */
  lstat?(path: string): MaybePromise<EntryInfo | null>;
}

export interface MountLimits {
  /** Workspace files that may become part of the mount. */
  readonly maxFiles: number;
  /** Bytes of one workspace file. */
  readonly maxFileBytes: number;
}

/** Bytes that all files of a mount may take together: with room to grow, about half of a 128 MB isolate. */
export const MAX_MOUNT_BYTES = 48 * 1024 * 1024;
/** Files, directories and links that may exist in a mount. */
export const MAX_MOUNT_NODES = 50_000;
/** Entries per page when a directory is listed. A shorter page is the last. */
export const LIST_PAGE = 1000;
