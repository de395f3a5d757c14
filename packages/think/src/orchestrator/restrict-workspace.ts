/**
 * A workspace with less: read-only, or one directory of it. Handed to a `ToolBridge` or to `createWorkspaceTools`.
 *
 * I1. Paths keep their names, so that parent and child talk about the same file; they are normalised before they are compared.
 * I2. With a root no path may pass a symbolic link, wherever it points: the storage would follow it out.
 * I3. The directories above the root exist and hold nothing but the way to it, so that listing from `/` works.
 */
import { isWithin, nameOf, parentOf, parsePath, segmentsOf } from "../workspace/paths";
import type { EntryInfo, ReadDirOptions, RemoveOptions, WorkspaceLike } from "../workspace/workspace-like";

export interface WorkspaceRestriction {
  /** What may be done. Default: `"read"`. */
  readonly access?: "read" | "read-write";
  /** The directory that may be used, as an absolute path. Default: `/`, everything. */
  readonly root?: string;
}

/** The workspace as somebody else may use it. Default: all of it, read-only. */
export function restrictWorkspace(
  workspace: WorkspaceLike,
  restriction: WorkspaceRestriction = {}
): WorkspaceLike {
  const { access = "read", root = "/" } = restriction;
  return new RestrictedWorkspace(workspace, access, normalized(root));
}

class RestrictedWorkspace implements WorkspaceLike {
  readonly #files: WorkspaceLike;
  readonly #access: "read" | "read-write";
  readonly #root: string;

  constructor(files: WorkspaceLike, access: "read" | "read-write", root: string) {
    this.#files = files;
    this.#access = access;
    this.#root = root;
  }

  async readFile(path: string): Promise<string | null> {
    return this.#files.readFile(await this.#inside(path));
  }

  async readFileBytes(path: string): Promise<Uint8Array | null> {
    return this.#files.readFileBytes(await this.#inside(path));
  }

  async writeFile(path: string, content: string, ...type: [string?]): Promise<void> {
    return this.#files.writeFile(await this.#changeable(path), content, ...type);
  }

  async writeFileBytes(path: string, content: Uint8Array, ...type: [string?]): Promise<void> {
    const target = await this.#changeable(path);
    if (!this.#files.writeFileBytes) throw new Error("ENOTSUP: this workspace takes no binary files");
    return this.#files.writeFileBytes(target, content, ...type);
  }

  async readDir(path = "/", options: ReadDirOptions = {}): Promise<EntryInfo[]> {
    const directory = normalized(path);
    if (!this.#isAbove(directory)) return this.#files.readDir(await this.#inside(directory), options);
    return (options.offset ?? 0) === 0 ? [this.#stepDown(directory)] : [];
  }

  async glob(pattern: string): Promise<EntryInfo[]> {
    const found = await this.#files.glob(pattern);
    return found.filter((entry) => isWithin(this.#root, normalized(entry.path)));
  }

  async stat(path: string): Promise<EntryInfo | null> {
    const target = normalized(path);
    return this.#isAbove(target) ? directoryInfo(target) : this.#files.stat(await this.#inside(target));
  }

  async lstat(path: string): Promise<EntryInfo | null> {
    const target = normalized(path);
    if (this.#isAbove(target)) return directoryInfo(target);
    if (target === this.#root) return this.#files.stat(await this.#inside(target));
    await this.#inside(parentOf(target));
    return this.#files.lstat ? this.#files.lstat(target) : this.#files.stat(target);
  }

  async mkdir(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    this.#mustBeWritable();
    const target = normalized(path);
    if (this.#isAbove(target) && options.recursive === true) return;
    return this.#files.mkdir(await this.#inside(target), options);
  }

  async rm(path: string, options?: RemoveOptions): Promise<void> {
    this.#mustBeWritable();
    const target = normalized(path);
    if (target === this.#root) throw new Error(`EPERM: ${path} is the shared directory itself`);
    // The link itself may go; what lies behind it is not touched by that.
    await this.#inside(parentOf(target));
    return this.#files.rm(target, options);
  }

  async #changeable(path: string): Promise<string> {
    this.#mustBeWritable();
    return this.#inside(path);
  }

  #mustBeWritable(): void {
    if (this.#access !== "read-write") throw new Error("EROFS: these files are shared read-only");
  }

  /** The path, if it lies below the root and no link is on its way. */
  async #inside(path: string): Promise<string> {
    const target = normalized(path);
    if (!isWithin(this.#root, target)) throw new Error(`EACCES: ${path} is outside of ${this.#root}`);
    if (this.#root === "/" || !this.#files.lstat) return target;
    let current = "";
    for (const name of segmentsOf(target)) {
      current += `/${name}`;
      const entry = await this.#files.lstat(current);
      if (entry === null) break;
      if (entry.type === "symlink")
        throw new Error(`EACCES: ${current} is a symbolic link, which is not shared`);
    }
    return target;
  }

  #isAbove(path: string): boolean {
    return path !== this.#root && isWithin(path, this.#root);
  }

  /** The one entry of a directory above the root. */
  #stepDown(directory: string): EntryInfo {
    const [step = ""] = segmentsOf(this.#root).slice(segmentsOf(directory).length);
    return directoryInfo(directory === "/" ? `/${step}` : `${directory}/${step}`);
  }
}

function directoryInfo(path: string): EntryInfo {
  return { path, name: nameOf(path), type: "directory", mimeType: "inode/directory", size: 0 };
}

function normalized(path: string): string {
  const parsed = parsePath(path);
  if (!parsed.ok) throw new Error(`EINVAL: ${parsed.error}`);
  return parsed.path;
}
