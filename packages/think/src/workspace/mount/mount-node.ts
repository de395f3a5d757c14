/** The tree that a script sees: plain data, changed only by `mount-tree.ts`. */

/** A file as it is in the workspace. */
export interface BaseFile {
  readonly kind: "file";
  readonly size: number;
  readonly mimeType: string;
  /** Once loaded. Never changed in place. */
  bytes: Uint8Array | undefined;
}

/** What the workspace holds at a path, as far as the script has looked. */
export type BaseEntry = BaseFile | { readonly kind: "directory" } | { readonly kind: "guarded" };

interface NodeCommon {
  /** Made by the shell itself, and not yet compared with what the workspace has at this path. */
  unchecked: boolean;
  mode: number;
  mtime: Date;
}

export interface FileNode extends NodeCommon {
  readonly kind: "file";
  /** Undefined: as in the workspace, not loaded. Never changed in place, so that copies may share it. */
  bytes: Uint8Array | undefined;
  readonly base: BaseFile | undefined;
}

export interface DirectoryNode extends NodeCommon {
  readonly kind: "directory";
  /** `null`: known to be absent, also when the workspace has something of that name. */
  readonly children: Map<string, MountNode | null>;
  /** The workspace has this directory, so that it may know more names. */
  inWorkspace: boolean;
  /** All names are in `children`. */
  complete: boolean;
}

export interface LinkNode extends NodeCommon {
  readonly kind: "link";
  readonly target: string;
}

/** A workspace entry that the script may see but not read or change. */
export interface GuardedNode extends NodeCommon {
  readonly kind: "guarded";
  readonly path: string;
  readonly size: number;
  readonly reason: string;
  /** The target of a symbolic link of the workspace. */
  readonly target?: string;
}

export type MountNode = FileNode | DirectoryNode | LinkNode | GuardedNode;

const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
const LINK_MODE = 0o777;

export function fileNode(bytes: Uint8Array | undefined, base?: BaseFile, mtime = new Date()): FileNode {
  return { kind: "file", bytes, base, unchecked: false, mode: FILE_MODE, mtime };
}

export function directoryNode(inWorkspace: boolean, mtime = new Date()): DirectoryNode {
  return {
    kind: "directory",
    children: new Map(),
    inWorkspace,
    complete: !inWorkspace,
    unchecked: false,
    mode: DIRECTORY_MODE,
    mtime
  };
}

export function linkNode(target: string): LinkNode {
  return { kind: "link", target, unchecked: false, mode: LINK_MODE, mtime: new Date() };
}

/** Children that exist, by name. */
export function presentChildren(node: DirectoryNode): [string, MountNode][] {
  const present: [string, MountNode][] = [];
  for (const [name, child] of node.children) if (child !== null) present.push([name, child]);
  return present.toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** Size in bytes, as far as it is known without loading. */
export function sizeOf(node: MountNode): number {
  switch (node.kind) {
    case "file":
      return node.bytes?.byteLength ?? node.base?.size ?? 0;
    case "link":
      return node.target.length;
    case "guarded":
      return node.size;
    case "directory":
      return 0;
  }
}
