/**
 * The workspace as a script sees it, loaded on demand: a name is asked for when the script first uses it, a directory
 * is listed when the script lists it, and bytes are read when the script reads them. `bash true` therefore costs
 * nothing, whatever the size of the workspace.
 *
 * Invariants
 * 1. `base` holds every workspace entry the script has come across, and nothing else. Write-back compares with it, so
 *    what was never looked at can never be changed.
 * 2. A guarded entry stays in the tree: nothing removes, replaces or moves it.
 * 3. After `freeze` nothing changes any more, even if the script is still running.
 */
import { isWithin, joinPath, normalizePath, parentOf, segmentsOf } from "../paths";
import type { EntryInfo } from "../workspace-like";
import {
  directoryNode,
  fileNode,
  type BaseEntry,
  type DirectoryNode,
  type FileNode,
  type GuardedNode,
  type MountNode
} from "./mount-node";
import {
  LIST_PAGE,
  MAX_MOUNT_BYTES,
  MAX_MOUNT_NODES,
  type MountLimits,
  type MountSource
} from "./mount-source";

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** Where a path leads: the directory that holds it, and what is there. */
export interface Place {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly parent: DirectoryNode;
  readonly name: string;
  readonly node: MountNode | null;
}

export class MountTree {
  readonly root: DirectoryNode = directoryNode(true);
  readonly base = new Map<string, BaseEntry>([["/", { kind: "directory" }]]);
  /** Guarded paths the script came across. */
  readonly skipped = new Set<string>();
  /** Why something the script tried did not happen. */
  readonly refusals = new Set<string>();
  readonly #source: MountSource;
  readonly #limits: MountLimits;
  /** The date of entries whose storage knows none: 1970 would make every file older than any other. */
  readonly #mountedAt = new Date();
  readonly #truncated = new Map<
    FileNode,
    { readonly path: string; readonly bytes: Uint8Array | undefined }
  >();
  /** The buffer behind a file that was appended to, and the longest part of it that was ever shown. */
  readonly #growing = new WeakMap<FileNode, { readonly buffer: Uint8Array; readonly view: Uint8Array }>();
  #mounted = 0;
  #bytes = 0;
  #nodes = 0;
  #frozen = false;

  constructor(source: MountSource, limits: MountLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  /** Ends all changes. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Follows a path. Links on the way are always followed, the last one only on request. */
  async walk(path: string, followLast: boolean): Promise<Place> {
    if (path.includes("\0")) throw fault("ENOENT", "path contains null byte", path);
    const pending = segmentsOf(normalizePath(path));
    let place: Place = { path: "/", parent: this.root, name: "", node: this.root };
    let links = 0;
    for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
      if (place.node?.kind !== "directory") {
        // Nothing is below a file; the rest of the path only matters for its name.
        const rest = [name, ...pending].join("/");
        const missing = place.node === null ? directoryNode(false) : undefined;
        if (missing === undefined) throw fault("ENOTDIR", "not a directory", `${place.path}/${rest}`);
        place = { path: joinPath(place.path, name), parent: missing, name, node: null };
        continue;
      }
      const child = await this.child(place.node, place.path, name);
      const childPath = joinPath(place.path, name);
      if (child?.kind === "link" && (followLast || pending.length > 0)) {
        if (++links > MAX_LINKS) throw fault("ELOOP", "too many levels of symbolic links", path);
        const target = child.target.startsWith("/") ? child.target : `${place.path}/${child.target}`;
        pending.unshift(...segmentsOf(normalizePath(target)));
        place = { path: "/", parent: this.root, name: "", node: this.root };
        continue;
      }
      place = { path: childPath, parent: place.node, name, node: child };
    }
    return place;
  }

  /** One name of a directory, asked from the workspace when it is not known yet. */
  async child(directory: DirectoryNode, directoryPath: string, name: string): Promise<MountNode | null> {
    const known = directory.children.get(name);
    if (known !== undefined && !(known?.unchecked === true && directory.inWorkspace)) return known;
    if (!directory.inWorkspace || directory.complete) return known ?? null;
    const { lstat } = this.#source;
    if (lstat === undefined) {
      await this.complete(directory, directoryPath);
    } else {
      const path = joinPath(directoryPath, name);
      this.#adopt(directory, name, path, await lstat.call(this.#source, path));
    }
    return directory.children.get(name) ?? null;
  }

  /** Makes sure that all names of a directory are known. */
  async complete(directory: DirectoryNode, path: string): Promise<void> {
    if (directory.complete) return;
    for await (const page of this.#pages(path)) {
      for (const entry of page) this.#adopt(directory, entry.name, joinPath(path, entry.name), entry);
    }
    for (const child of directory.children.values()) if (child !== null) child.unchecked = false;
    directory.complete = true;
  }

  async *#pages(path: string): AsyncIterable<readonly EntryInfo[]> {
    if (this.#source.readWholeDir !== undefined) {
      const entries = await this.#source.readWholeDir(path, MAX_MOUNT_NODES + 1);
      // The order of a listing decides which files fit below the limit, so it must not depend on the storage.
      yield entries.toSorted((left, right) => (left.name < right.name ? -1 : 1));
      return;
    }
    for (let offset = 0; ; offset += LIST_PAGE) {
      const page = await this.#source.readDir(path, { limit: LIST_PAGE, offset });
      yield page;
      if (page.length < LIST_PAGE) return;
    }
  }

  /** Takes over what the workspace has, unless the script was faster. */
  #adopt(directory: DirectoryNode, name: string, path: string, entry: EntryInfo | null): void {
    const known = directory.children.get(name);
    if (known !== undefined && known?.unchecked !== true) return;
    if (known !== undefined && known !== null) known.unchecked = false;
    if (entry === null) {
      if (known === undefined) directory.children.set(name, null);
      return;
    }
    if (known?.kind === "directory" && (entry.type === "directory" || known.children.size > 0)) {
      // A directory of the shell, like /usr: both are shown as one. Over a workspace file the shell's must win.
      if (entry.type === "directory") {
        this.base.set(path, { kind: "directory" });
        known.inWorkspace = true;
        known.complete = false;
      } else this.#guard(path);
      return;
    }
    this.#count();
    directory.children.set(name, this.#nodeFor(path, entry));
  }

  #nodeFor(path: string, entry: EntryInfo): MountNode {
    const mtime = entry.updatedAt === undefined ? this.#mountedAt : new Date(entry.updatedAt);
    if (entry.type === "directory") {
      this.base.set(path, { kind: "directory" });
      return directoryNode(true, mtime);
    }
    const reason = this.#reasonToGuard(entry);
    if (reason !== undefined) {
      this.#guard(path);
      const target = entry.target === undefined ? {} : { target: entry.target };
      return {
        kind: "guarded",
        path,
        size: entry.size,
        reason,
        ...target,
        unchecked: false,
        mode: 0o444,
        mtime
      };
    }
    this.#mounted++;
    const base = { kind: "file" as const, size: entry.size, mimeType: entry.mimeType, bytes: undefined };
    this.base.set(path, base);
    return fileNode(undefined, base, mtime);
  }

  #reasonToGuard(entry: EntryInfo): string | undefined {
    const { maxFiles, maxFileBytes } = this.#limits;
    if (entry.type === "symlink") return "a symbolic link of the workspace";
    if (entry.size > maxFileBytes) return `${entry.size} bytes, more than the limit of ${maxFileBytes}`;
    if (this.#mounted >= maxFiles) return `one file more than the limit of ${maxFiles}`;
    return undefined;
  }

  #guard(path: string): void {
    this.base.set(path, { kind: "guarded" });
    this.skipped.add(path);
  }

  /** The bytes of a file, read from the workspace the first time. */
  async load(node: FileNode, path: string): Promise<Uint8Array> {
    if (node.bytes !== undefined) return node.bytes;
    const bytes = node.base === undefined ? new Uint8Array() : await this.loadBase(node.base, path);
    node.bytes ??= bytes;
    return node.bytes;
  }

  /** The workspace's own bytes of a file. */
  async loadBase(base: Extract<BaseEntry, { kind: "file" }>, path: string): Promise<Uint8Array> {
    if (base.bytes !== undefined) return base.bytes;
    const bytes = await this.#source.readFileBytes(path);
    if (bytes === null) {
      // Listed, but without content (a lost object, say): what nobody could read must not be replaced by a guess.
      this.#guard(path);
      throw fault("EACCES", "protected workspace file (its content is missing)", path);
    }
    this.#charge(bytes.byteLength);
    base.bytes = bytes;
    return bytes;
  }

  /** Empties a file, as the shell does when it opens one for output. */
  truncate(node: FileNode, path: string): void {
    const before = this.#truncated.get(node) ?? { path, bytes: node.bytes };
    this.setBytes(node, new Uint8Array());
    this.#truncated.set(node, before);
  }

  /**
   * Gives files back their content that were opened for output and never written: after a stopped script, that
   * output was lost on the way. Returns their paths.
   */
  undoTruncations(): string[] {
    const undone = [...this.#truncated];
    for (const [node, before] of undone) node.bytes = before.bytes;
    this.#truncated.clear();
    return undone.map(([, { path }]) => path);
  }

  /** Puts bytes into a new or existing file. */
  setBytes(node: FileNode, bytes: Uint8Array): void {
    this.#assertWritable();
    this.#truncated.delete(node);
    this.#charge(bytes.byteLength);
    this.#release(node);
    node.bytes = bytes;
    node.mtime = new Date();
  }

  /**
   * Adds bytes to the end of a file. The buffer has room to grow: a loop that appends line by line would otherwise copy the
   * file each time. Only this file writes into its buffer, and only behind what anyone else can see of it.
   */
  async append(node: FileNode, path: string, added: Uint8Array): Promise<void> {
    const existing = await this.load(node, path);
    this.#assertWritable();
    this.#charge(added.length);
    const length = existing.length + added.length;
    const growing = this.#growing.get(node);
    let buffer = growing?.view === existing ? growing.buffer : undefined;
    if (buffer === undefined || buffer.length < length) {
      // The old bytes stay in memory only where the workspace's own are compared later.
      if (existing === node.base?.bytes) this.#charge(existing.length);
      buffer = new Uint8Array(Math.ceil(length * 1.5));
      buffer.set(existing);
    }
    buffer.set(added, existing.length);
    this.#truncated.delete(node);
    node.bytes = buffer.subarray(0, length);
    this.#growing.set(node, { buffer, view: node.bytes });
    node.mtime = new Date();
  }

  /** Puts a node into a directory, replacing what is there. */
  attach(directory: DirectoryNode, name: string, node: MountNode): void {
    this.#assertWritable();
    const existing = directory.children.get(name);
    if (existing === undefined || existing === null) this.#count();
    else if (existing.kind === "file") this.#release(existing);
    directory.children.set(name, node);
  }

  /** Takes a node out of a directory. */
  detach(directory: DirectoryNode, name: string): void {
    this.#assertWritable();
    const existing = directory.children.get(name);
    if (existing?.kind === "file") {
      this.#truncated.delete(existing);
      this.#release(existing);
    }
    if (existing !== undefined && existing !== null) this.#nodes--;
    directory.children.set(name, null);
  }

  /** The directory at a path, made with its parents where they are missing. */
  async ensureDirectory(path: string): Promise<DirectoryNode> {
    const place = await this.walk(path, true);
    if (place.node?.kind === "directory") return place.node;
    if (place.node !== null) throw fault("ENOTDIR", "not a directory", path);
    const parent = await this.ensureDirectory(parentOf(place.path));
    const created = directoryNode(false);
    this.attach(parent, place.name, created);
    return created;
  }

  /** Refuses a change to a guarded entry, and remembers that it was tried. */
  refuse(node: GuardedNode): Error {
    this.refusals.add(`Did not change the protected workspace file ${node.path}: ${node.reason}.`);
    return fault("EPERM", `protected workspace file (${node.reason})`, node.path);
  }

  /** Guarded paths at or below a path that the script came across. */
  guardedWithin(path: string): string[] {
    return [...this.skipped].filter((item) => isWithin(path, item));
  }

  #assertWritable(): void {
    if (this.#frozen) throw new Error("EROFS: the script has been stopped");
  }

  #count(): void {
    if (++this.#nodes > MAX_MOUNT_NODES) {
      throw new Error(`ENOSPC: no more than ${MAX_MOUNT_NODES} files and directories in one run`);
    }
  }

  #charge(bytes: number): void {
    if (this.#bytes + bytes > MAX_MOUNT_BYTES) {
      throw new Error(`ENOSPC: no more than ${MAX_MOUNT_BYTES} bytes of files in one run`);
    }
    this.#bytes += bytes;
  }

  /** The bytes of the workspace are kept for the comparison at the end, all others are freed. */
  #release(node: FileNode): void {
    if (node.bytes !== undefined && node.bytes !== node.base?.bytes) this.#bytes -= node.bytes.byteLength;
  }
}

/** An error in the form that shell commands know. */
export function fault(code: string, text: string, path: string): Error {
  return new Error(`${code}: ${text}, '${path}'`);
}
