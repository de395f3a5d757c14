/**
 * The mount as `just-bash` wants it: the file system calls of a shell, on a `MountTree`. Like that shell's own memory file
 * system it creates missing parents when a file is written.
 *
 * The two `…Sync` methods exist because the shell uses them, while it is constructed, to put its own files (`/bin/ls`,
 * `/dev/null`, ...) into the tree. Those are marked and give way to workspace files of the same name.
 */
import type { IFileSystem } from "just-bash";
import { errorText } from "../../shared/errors/error-text";
import { isWithin, joinPath, nameOf, normalizePath, parentOf, segmentsOf } from "../paths";
import {
  directoryNode,
  fileNode,
  linkNode,
  presentChildren,
  sizeOf,
  type DirectoryNode,
  type FileNode,
  type MountNode
} from "./mount-node";
import { encodingOf, fromBytes, toBytes, type Content, type Encoding } from "./mount-encoding";
import { fault, type MountTree, type Place } from "./mount-tree";

type FileStat = Awaited<ReturnType<IFileSystem["stat"]>>;

/** Takes every write and stays empty. */
const NULL_DEVICE = "/dev/null";

export class MountFileSystem implements IFileSystem {
  readonly #tree: MountTree;
  readonly #identities = new WeakMap<MountNode, string>();
  #lastIdentity = 0;

  constructor(tree: MountTree) {
    this.#tree = tree;
  }

  mkdirSync(path: string): void {
    let directory = this.#tree.root;
    for (const name of segmentsOf(normalizePath(path))) {
      const existing = directory.children.get(name);
      if (existing?.kind === "directory") {
        directory = existing;
        continue;
      }
      const created: DirectoryNode = { ...directoryNode(false), unchecked: true };
      directory.children.set(name, created);
      directory = created;
    }
  }

  writeFileSync(path: string, content: Content): void {
    const parent = parentOf(normalizePath(path));
    this.mkdirSync(parent);
    let directory = this.#tree.root;
    for (const name of segmentsOf(parent)) {
      const next = directory.children.get(name);
      if (next?.kind === "directory") directory = next;
    }
    const bytes = toBytes(content, undefined);
    directory.children.set(nameOf(normalizePath(path)), { ...fileNode(bytes), unchecked: true });
  }

  async readFile(path: string, options?: Parameters<IFileSystem["readFile"]>[1]): Promise<string> {
    return fromBytes(await this.#read(path), encodingOf(options));
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    // A copy: the original is compared with the workspace later.
    return (await this.#read(path)).slice();
  }

  async writeFile(path: string, content: Content, options?: Encoding): Promise<void> {
    await this.#openForWriting(path, async (place) => {
      const bytes = toBytes(content, encodingOf(options));
      if (bytes.length === 0 && place.node?.kind === "file") this.#tree.truncate(place.node, place.path);
      else await this.#store(place, path, bytes);
    });
  }

  async appendFile(path: string, content: Content, options?: Encoding): Promise<void> {
    await this.#openForWriting(path, async (place) => {
      const added = toBytes(content, encodingOf(options));
      if (place.node?.kind !== "file" || place.path === NULL_DEVICE)
        return await this.#store(place, path, added);
      if (added.length === 0) return;
      await this.#tree.append(place.node, place.path, added);
    });
  }

  /**
   * Redirections write through here, and the shell ends the whole script when such a write throws. Where a real shell
   * would print a message and go on, the write is dropped and reported with the result instead.
   */
  async #openForWriting(path: string, write: (place: Place) => Promise<void>): Promise<void> {
    try {
      await write(await this.#tree.walk(path, true));
    } catch (error) {
      const text = errorText(error);
      if (!/^(?:EPERM|ENOTDIR|ENOENT|ELOOP)\b/.test(text)) throw error;
      if (!text.startsWith("EPERM")) this.#tree.refusals.add(`Did not write ${path}: ${text}.`);
    }
  }

  async exists(path: string): Promise<boolean> {
    try {
      return (await this.#tree.walk(path, true)).node !== null;
    } catch {
      // A path through a file, a link loop, a NUL: none of them exists.
      return false;
    }
  }

  async stat(path: string): Promise<FileStat> {
    return this.#describe((await this.#existing(path, true, "stat")).node, true);
  }

  async lstat(path: string): Promise<FileStat> {
    return this.#describe((await this.#existing(path, false, "lstat")).node, false);
  }

  async mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    const place = await this.#tree.walk(path, true);
    if (place.node !== null) {
      if (place.node.kind === "directory" && options?.recursive === true) return;
      throw fault("EEXIST", "file already exists, mkdir", path);
    }
    if (options?.recursive !== true && (await this.#tree.walk(parentOf(place.path), true)).node === null) {
      throw fault("ENOENT", "no such file or directory, mkdir", path);
    }
    await this.#tree.ensureDirectory(place.path);
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(
    path: string
  ): Promise<Awaited<ReturnType<NonNullable<IFileSystem["readdirWithFileTypes"]>>>> {
    const place = await this.#existing(path, true, "scandir");
    if (place.node.kind !== "directory") throw fault("ENOTDIR", "not a directory, scandir", path);
    await this.#tree.complete(place.node, place.path);
    return presentChildren(place.node).map(([name, node]) => ({
      name,
      isFile: node.kind === "file" || (node.kind === "guarded" && node.target === undefined),
      isDirectory: node.kind === "directory",
      isSymbolicLink: node.kind === "link" || (node.kind === "guarded" && node.target !== undefined)
    }));
  }

  async rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void> {
    const place = await this.#tree.walk(path, false);
    if (place.node === null) {
      if (options?.force === true) return;
      throw fault("ENOENT", "no such file or directory, rm", path);
    }
    if (place.path === "/") {
      // With -f the shell's command says nothing, and the model would believe that it is alone in an empty workspace.
      this.#tree.refusals.add(
        "Did not remove /: it is the workspace itself. Name the files to remove, or use /*."
      );
      throw fault("EPERM", "the root cannot be removed, rm", path);
    }
    await this.#remove(place, options?.recursive ?? false);
  }

  async #remove(place: Place, recursive: boolean): Promise<void> {
    const { node, path } = place;
    if (node?.kind === "guarded") throw this.#tree.refuse(node);
    if (node?.kind === "directory") {
      await this.#tree.complete(node, path);
      const children = presentChildren(node);
      if (children.length > 0 && !recursive) throw fault("ENOTEMPTY", "directory not empty, rm", path);
      let refusal: unknown;
      for (const [name, child] of children) {
        // As `rm -r` does: what can be removed is removed, and the directory stays.
        try {
          await this.#remove({ path: joinPath(path, name), parent: node, name, node: child }, true);
        } catch (error) {
          refusal ??= error;
        }
      }
      if (refusal !== undefined) {
        if (this.#tree.guardedWithin(path).length > 0) {
          this.#tree.refusals.add(
            `Did not remove the protected workspace directory ${path}: it holds protected files.`
          );
        }
        throw refusal;
      }
    }
    this.#tree.detach(place.parent, place.name);
  }

  async cp(source: string, target: string, options?: { recursive?: boolean }): Promise<void> {
    const from = await this.#existing(source, false, "cp");
    const to = await this.#tree.walk(target, false);
    await this.#copy(from, to.path, options?.recursive ?? false);
  }

  async #copy(from: Place & { readonly node: MountNode }, target: string, recursive: boolean): Promise<void> {
    switch (from.node.kind) {
      case "guarded":
        throw unreadable(from.node);
      case "file": {
        const bytes = await this.#tree.load(from.node, from.path);
        return await this.#store(await this.#tree.walk(target, false), target, bytes, from.node.mode);
      }
      case "link":
        return await this.symlink(from.node.target, target, true);
      case "directory":
        break;
    }
    if (!recursive) throw fault("EISDIR", "is a directory, cp", from.path);
    if (isWithin(from.path, target)) throw fault("EINVAL", `cannot copy into itself, '${target}'`, from.path);
    await this.#tree.complete(from.node, from.path);
    await this.#tree.ensureDirectory(target);
    for (const [name, node] of presentChildren(from.node)) {
      const child = { path: joinPath(from.path, name), parent: from.node, name, node };
      await this.#copy(child, joinPath(target, name), true);
    }
  }

  async mv(source: string, target: string): Promise<void> {
    const from = await this.#existing(source, false, "mv");
    const to = await this.#tree.walk(target, false);
    if (from.path === to.path) return;
    if (from.node.kind === "guarded") throw this.#tree.refuse(from.node);
    if (isWithin(from.path, to.path)) throw fault("EINVAL", `cannot move into itself, '${target}'`, source);
    if (to.node?.kind === "directory") {
      await this.#tree.complete(to.node, to.path);
      if (from.node.kind !== "directory") throw fault("EISDIR", "is a directory, mv", target);
      if (presentChildren(to.node).length > 0) throw fault("ENOTEMPTY", "directory not empty, mv", target);
    } else if (to.node !== null && from.node.kind === "directory") {
      throw fault("ENOTDIR", "not a directory, mv", target);
    }
    await this.#copy(from, to.path, true);
    await this.#remove(from, true);
  }

  resolvePath(base: string, path: string): string {
    return normalizePath(path.startsWith("/") ? path : `${base}/${path}`);
  }

  /** Only what is known: used by `ls` for quoted patterns, where listing the whole workspace is not worth it. */
  getAllPaths(): string[] {
    const paths: string[] = [];
    const pending: [string, MountNode][] = [["/", this.#tree.root]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [path, node] = next;
      paths.push(path);
      if (node.kind !== "directory") continue;
      for (const [name, child] of presentChildren(node)) pending.push([joinPath(path, name), child]);
    }
    return paths.toSorted();
  }

  async chmod(path: string, mode: number): Promise<void> {
    const { node } = await this.#existing(path, true, "chmod");
    node.mode = mode;
  }

  async symlink(target: string, path: string, replace = false): Promise<void> {
    const place = await this.#tree.walk(path, false);
    if (place.node?.kind === "guarded") throw this.#tree.refuse(place.node);
    if (place.node !== null && !(replace && place.node.kind !== "directory")) {
      throw fault("EEXIST", "file already exists, symlink", path);
    }
    this.#tree.attach(await this.#tree.ensureDirectory(parentOf(place.path)), place.name, linkNode(target));
  }

  async link(existing: string, path: string): Promise<void> {
    const from = await this.#existing(existing, true, "link");
    if (from.node.kind !== "file") throw fault("EPERM", "operation not permitted, link", existing);
    const place = await this.#tree.walk(path, false);
    if (place.node !== null) throw fault("EEXIST", "file already exists, link", path);
    await this.#store(place, path, await this.#tree.load(from.node, from.path));
  }

  async readlink(path: string): Promise<string> {
    const { node } = await this.#existing(path, false, "readlink");
    if (node.kind === "link" || (node.kind === "guarded" && node.target !== undefined))
      return node.target ?? "";
    throw fault("EINVAL", "invalid argument, readlink", path);
  }

  async realpath(path: string): Promise<string> {
    return (await this.#existing(path, true, "realpath")).path;
  }

  async utimes(path: string, _accessed: Date, modified: Date): Promise<void> {
    const { node } = await this.#existing(path, true, "utimes");
    if (node.kind === "guarded") throw this.#tree.refuse(node);
    node.mtime = modified;
  }

  async #existing(
    path: string,
    follow: boolean,
    call: string
  ): Promise<Place & { readonly node: MountNode }> {
    const place = await this.#tree.walk(path, follow);
    if (place.node === null) throw fault("ENOENT", `no such file or directory, ${call}`, path);
    return { ...place, node: place.node };
  }

  async #read(path: string): Promise<Uint8Array> {
    const { node, path: real } = await this.#existing(path, true, "open");
    if (node.kind === "guarded") throw unreadable(node);
    if (node.kind !== "file") throw fault("EISDIR", "illegal operation on a directory, read", path);
    return await this.#tree.load(node, real);
  }

  async #store(place: Place, path: string, bytes: Uint8Array, mode?: number): Promise<void> {
    const { node } = place;
    if (place.path === NULL_DEVICE) return;
    if (node?.kind === "guarded") throw this.#tree.refuse(node);
    if (node?.kind === "directory") throw fault("EISDIR", "illegal operation on a directory, write", path);
    if (node?.kind === "file") return this.#tree.setBytes(node, bytes);
    const parent = await this.#tree.ensureDirectory(parentOf(place.path));
    const base = this.#tree.base.get(place.path);
    const created: FileNode = fileNode(undefined, base?.kind === "file" ? base : undefined);
    if (mode !== undefined) created.mode = mode;
    this.#tree.setBytes(created, bytes);
    this.#tree.attach(parent, place.name, created);
  }

  #describe(node: MountNode, followed: boolean): FileStat {
    const isLink =
      node.kind === "link" || (!followed && node.kind === "guarded" && node.target !== undefined);
    return {
      isFile: !isLink && node.kind !== "directory",
      isDirectory: node.kind === "directory",
      isSymbolicLink: isLink,
      mode: node.mode,
      size: sizeOf(node),
      mtime: node.mtime,
      identity: this.#identityOf(node)
    };
  }

  #identityOf(node: MountNode): string {
    const known = this.#identities.get(node) ?? `mount:${++this.#lastIdentity}`;
    this.#identities.set(node, known);
    return known;
  }
}

function unreadable(node: Extract<MountNode, { kind: "guarded" }>): Error {
  return fault("EACCES", `protected workspace file (${node.reason})`, node.path);
}
