/**
 * Brings the workspace into the state in which a script left the mount.
 *
 * Invariants
 * 1. Only differences are written: an untouched workspace costs no statement.
 * 2. A path that changed its type is removed before anything is written; everything else is removed after all writes,
 *    and a file is kept when its bytes were to live on at a path that could not be written. A move loses nothing.
 * 3. Directories are removed only when empty, so a file that someone else put there meanwhile stays.
 * 4. A failing operation adds a text to `errors`; the others go on.
 */
import { errorText } from "../../shared/errors/error-text";
import { isWithin, joinPath } from "../paths";
import type { MaybePromise, RemoveOptions } from "../workspace-like";
import { presentChildren, type BaseFile, type FileNode, type MountNode } from "./mount-node";
import type { MountTree } from "./mount-tree";

export interface WriteBackTarget {
  writeFile(path: string, content: string, mimeType?: string): Promise<void>;
  writeFileBytes?(path: string, content: Uint8Array, mimeType?: string): Promise<void>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): MaybePromise<void>;
  rm(path: string, options?: RemoveOptions): Promise<void>;
}

/** Absolute paths, each list sorted. */
export interface ChangedFiles {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  readonly deleted: readonly string[];
  readonly directoriesCreated: readonly string[];
  readonly directoriesDeleted: readonly string[];
}

export interface WriteBackResult {
  readonly changes: ChangedFiles;
  readonly errors: readonly string[];
}

/** What the shell itself brings along, and scratch space. New paths below are not saved; workspace paths are. */
export const shellRoots: readonly string[] = ["/bin", "/usr", "/dev", "/proc", "/sys", "/tmp"];

/** The mime type that each kind of write gives a file unless told otherwise. */
const TEXT_TYPE = "text/plain";
const BYTES_TYPE = "application/octet-stream";

/** Writes the differences. Never throws. */
export async function writeBack(tree: MountTree, target: WriteBackTarget): Promise<WriteBackResult> {
  const run = new WriteBack(tree, target);
  await run.run();
  return run.result();
}

interface FinalFile {
  readonly node: FileNode;
  /** Where the node itself is: differs from the saved path for a link. */
  readonly source: string;
}

class WriteBack {
  readonly #tree: MountTree;
  readonly #target: WriteBackTarget;
  readonly #files = new Map<string, FinalFile>();
  readonly #directories = new Set<string>();
  /** Links that cannot be saved as files; what the workspace has there stays. */
  readonly #unsavable = new Set<string>();
  readonly #failedBytes = new Set<Uint8Array>();
  /** What is left in scratch space, by content: a file moved there is gone, and that must be said. */
  readonly #scratch = new Map<Uint8Array, string>();
  /** Removed so far. */
  readonly #gone = new Set<string>();
  readonly #errors: string[] = [];
  readonly #created: string[] = [];
  readonly #updated: string[] = [];
  readonly #deleted: string[] = [];
  readonly #directoriesCreated: string[] = [];
  readonly #directoriesDeleted: string[] = [];

  constructor(tree: MountTree, target: WriteBackTarget) {
    this.#tree = tree;
    this.#target = target;
  }

  async run(): Promise<void> {
    await this.#collect(this.#tree.root, "/");
    await this.#removeChangedTypes();
    await this.#createDirectories();
    await this.#writeFiles();
    await this.#removeRest(() => true);
  }

  result(): WriteBackResult {
    return {
      changes: {
        created: this.#created.toSorted(),
        updated: this.#updated.toSorted(),
        deleted: this.#deleted.toSorted(),
        directoriesCreated: this.#directoriesCreated.toSorted(),
        directoriesDeleted: this.#directoriesDeleted.toSorted()
      },
      errors: [...this.#tree.refusals, ...this.#errors]
    };
  }

  /** Everything that should be in the workspace, as far as it is known. */
  async #collect(node: MountNode, path: string): Promise<void> {
    if (!this.#tree.base.has(path) && shellRoots.some((root) => isWithin(root, path))) {
      // A directory of the shell may still hold workspace paths below it.
      if (node.kind !== "directory") {
        if (node.kind === "file" && node.bytes !== undefined) this.#scratch.set(node.bytes, path);
        return;
      }
    } else if (node.kind === "file") {
      this.#files.set(path, { node, source: path });
    } else if (node.kind === "link") {
      await this.#collectLink(path);
    } else if (node.kind === "directory") {
      this.#directories.add(path);
    }
    if (node.kind !== "directory") return;
    for (const [name, child] of presentChildren(node)) await this.#collect(child, joinPath(path, name));
  }

  /** A link is saved as a copy of the file it leads to. */
  async #collectLink(path: string): Promise<void> {
    const place = await this.#tree.walk(path, true).catch(() => undefined);
    if (place?.node?.kind === "file") {
      this.#files.set(path, { node: place.node, source: place.path });
      return;
    }
    this.#unsavable.add(path);
    this.#errors.push(`Did not save the symbolic link ${path}: only links to files can be saved, as copies.`);
  }

  async #removeChangedTypes(): Promise<void> {
    const changed: string[] = [];
    for (const [path, base] of this.#tree.base) {
      if (base.kind === "file" && this.#directories.has(path)) changed.push(path);
      if (base.kind === "directory" && this.#files.has(path)) changed.push(path);
    }
    if (changed.length > 0) await this.#removeRest((path) => changed.some((root) => isWithin(root, path)));
  }

  async #createDirectories(): Promise<void> {
    for (const path of [...this.#directories].toSorted()) {
      if (this.#tree.base.get(path)?.kind === "directory") continue;
      await this.#attempt(`create the directory ${path}`, async () => {
        await this.#target.mkdir(path, { recursive: true });
        this.#directoriesCreated.push(path);
      });
    }
  }

  async #writeFiles(): Promise<void> {
    for (const [path, file] of [...this.#files].toSorted(([left], [right]) => (left < right ? -1 : 1))) {
      const base = this.#tree.base.get(path);
      if (base?.kind === "guarded") {
        if (file.node.bytes !== undefined)
          this.#errors.push(`Did not change the protected workspace file ${path}.`);
        continue;
      }
      const before = base?.kind === "file" ? base : undefined;
      let bytes: Uint8Array | undefined;
      const saved = await this.#attempt(`save ${path}`, async () => {
        bytes = await this.#changedBytes(file, path, before);
        if (bytes === undefined) return;
        await this.#write(path, bytes, before);
        (before === undefined ? this.#created : this.#updated).push(path);
      });
      if (!saved && bytes !== undefined) this.#failedBytes.add(bytes);
    }
  }

  /** The bytes to write, or undefined when the workspace has them already. */
  async #changedBytes(
    file: FinalFile,
    path: string,
    before: BaseFile | undefined
  ): Promise<Uint8Array | undefined> {
    // Never read by the script, and not a link to somewhere else: as it was.
    if (file.node.bytes === undefined && file.source === path) return undefined;
    const bytes = await this.#tree.load(file.node, file.source);
    if (before === undefined) return bytes;
    if (before.bytes === bytes) return undefined;
    if (before.size !== bytes.byteLength) return bytes;
    return sameBytes(await this.#tree.loadBase(before, path), bytes) ? undefined : bytes;
  }

  async #write(path: string, bytes: Uint8Array, before: BaseFile | undefined): Promise<void> {
    const wasText = before === undefined || !isVagueType(before.mimeType);
    const text = decodeText(bytes);
    const type = before?.mimeType;
    if (text !== undefined && (wasText || this.#target.writeFileBytes === undefined)) {
      return await this.#target.writeFile(
        path,
        text,
        ...(isTextType(type) ? typeArgument(type, TEXT_TYPE) : [])
      );
    }
    if (this.#target.writeFileBytes === undefined) {
      throw new Error("it is not text, and this storage does not support writeFileBytes");
    }
    await this.#target.writeFileBytes(
      path,
      bytes,
      ...(isTextType(type) ? [] : typeArgument(type, BYTES_TYPE))
    );
  }

  /** Removes known workspace paths that are gone or changed their type: files first, then directories from the deepest. */
  async #removeRest(within: (path: string) => boolean): Promise<void> {
    const known = [...this.#tree.base]
      .filter(([path]) => path !== "/" && within(path))
      .toSorted(([left], [right]) => (left < right ? 1 : -1));
    for (const [path, base] of known) {
      if (base.kind !== "file" || this.#files.has(path) || this.#unsavable.has(path) || this.#gone.has(path))
        continue;
      await this.#removeFile(path, base);
    }
    for (const [path, base] of known) {
      if (base.kind !== "directory" || this.#directories.has(path) || this.#gone.has(path)) continue;
      await this.#attempt(`remove the directory ${path}`, async () => {
        await this.#target.rm(path, { force: true });
        this.#gone.add(path);
        this.#directoriesDeleted.push(path);
      });
    }
  }

  async #removeFile(path: string, base: BaseFile): Promise<void> {
    if (base.bytes !== undefined && this.#failedBytes.has(base.bytes)) {
      this.#errors.push(`Kept ${path}, because its new place could not be written.`);
      return;
    }
    await this.#attempt(`delete ${path}`, async () => {
      await this.#target.rm(path, { force: true });
      this.#gone.add(path);
      this.#deleted.push(path);
      const scratch = base.bytes === undefined ? undefined : this.#scratch.get(base.bytes);
      if (scratch !== undefined) {
        this.#errors.push(
          `Did not keep ${scratch}, which was ${path}: files there are scratch and end with the script.`
        );
      }
    });
  }

  async #attempt(what: string, action: () => Promise<void>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.#errors.push(`Could not ${what}: ${errorText(error)}.`);
      return false;
    }
  }
}

function typeArgument(type: string | undefined, standard: string): [] | [string] {
  return type === undefined || type === "" || type === standard ? [] : [type];
}

/** Whether the old type may stay when the new content is text. */
function isTextType(type = ""): boolean {
  return /^text\/|json|javascript|typescript|xml/.test(type);
}

function isVagueType(mimeType: string): boolean {
  return mimeType === BYTES_TYPE || mimeType === "binary/octet-stream";
}

/** The text of the bytes when they are exactly one; NUL is kept out of text columns. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.byteLength === right.byteLength && left.every((byte, index) => byte === right[index]);
}
