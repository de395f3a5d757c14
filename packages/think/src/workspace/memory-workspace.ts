/**
 * A workspace in plain memory, for tests and for trying the tools without a Durable Object. It keeps the promises of
 * `WorkspaceLike` and nothing more: no links, no spilling, no limits.
 */
import { parseGlob } from "./glob";
import { isWithin, nameOf, normalizePath, parentOf, segmentsOf } from "./paths";
import type { EntryInfo, ReadDirOptions, RemoveOptions, WorkspaceLike } from "./workspace-like";

interface MemoryFile {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
}

export class MemoryWorkspace implements WorkspaceLike {
  readonly #files = new Map<string, MemoryFile>();
  readonly #directories = new Set(["/"]);

  async readFile(path: string): Promise<string | null> {
    const bytes = await this.readFileBytes(path);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }

  async readFileBytes(path: string): Promise<Uint8Array | null> {
    const normalized = normalizePath(path);
    if (this.#directories.has(normalized)) throw new Error(`EISDIR: ${path} is a directory`);
    return this.#files.get(normalized)?.bytes ?? null;
  }

  async writeFile(path: string, content: string): Promise<void> {
    this.#write(path, new TextEncoder().encode(content), "text/plain");
  }

  async writeFileBytes(
    path: string,
    content: Uint8Array,
    mimeType = "application/octet-stream"
  ): Promise<void> {
    this.#write(path, content.slice(), mimeType);
  }

  async readDir(path = "/", options: ReadDirOptions = {}): Promise<EntryInfo[]> {
    const directory = normalizePath(path);
    const { limit = 1000, offset = 0 } = options;
    return this.#entries()
      .filter((entry) => entry.path !== "/" && parentOf(entry.path) === directory)
      .toSorted((left, right) => compare(left.type, right.type) || compare(left.name, right.name))
      .slice(offset, offset + limit);
  }

  async glob(pattern: string): Promise<EntryInfo[]> {
    const parsed = parseGlob(pattern);
    if (!parsed.ok) throw new Error(parsed.error);
    return this.#entries()
      .filter((entry) => parsed.glob.matches(entry.path))
      .toSorted((left, right) => compare(left.path, right.path));
  }

  async stat(path: string): Promise<EntryInfo | null> {
    const normalized = normalizePath(path);
    return this.#entries().find((entry) => entry.path === normalized) ?? null;
  }

  async mkdir(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    const normalized = normalizePath(path);
    if (this.#files.has(normalized)) throw new Error(`EEXIST: path exists as a file: ${path}`);
    if (this.#directories.has(normalized)) {
      if (options.recursive === true) return;
      throw new Error(`EEXIST: directory already exists: ${path}`);
    }
    if (options.recursive !== true && !this.#directories.has(parentOf(normalized))) {
      throw new Error(`ENOENT: parent directory not found: ${parentOf(normalized)}`);
    }
    this.#makeDirectories(normalized);
  }

  async rm(path: string, options: RemoveOptions = {}): Promise<void> {
    const normalized = normalizePath(path);
    if (normalized === "/") throw new Error("EPERM: cannot remove root directory");
    const below = [...this.#files.keys(), ...this.#directories].filter((item) => isWithin(normalized, item));
    if (below.length === 0 && options.force !== true)
      throw new Error(`ENOENT: no such file or directory: ${path}`);
    if (below.length > 1 && options.recursive !== true)
      throw new Error(`ENOTEMPTY: directory not empty: ${path}`);
    for (const item of below) {
      this.#files.delete(item);
      this.#directories.delete(item);
    }
  }

  #write(path: string, bytes: Uint8Array, mimeType: string): void {
    const normalized = normalizePath(path);
    if (this.#directories.has(normalized)) throw new Error(`EISDIR: ${path} is a directory`);
    this.#makeDirectories(parentOf(normalized));
    this.#files.set(normalized, { bytes, mimeType });
  }

  #makeDirectories(path: string): void {
    let current = "";
    for (const name of segmentsOf(path)) {
      current += `/${name}`;
      if (this.#files.has(current)) throw new Error(`ENOTDIR: ${current} is not a directory`);
      this.#directories.add(current);
    }
  }

  #entries(): EntryInfo[] {
    const files = Array.from(this.#files, ([path, file]): EntryInfo => {
      return { path, name: nameOf(path), type: "file", mimeType: file.mimeType, size: file.bytes.byteLength };
    });
    const directories = Array.from(this.#directories, (path): EntryInfo => {
      return { path, name: nameOf(path), type: "directory", mimeType: "text/plain", size: 0 };
    });
    return [...directories, ...files];
  }
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
