/**
 * All workspace tools on one storage. `Think` calls this for every turn with `this.workspace`; applications call it for
 * their own storage.
 */
import { fastReads, type FastReads } from "../../workspace/stock-workspace";
import type { WorkspaceLike } from "../../workspace/workspace-like";
import { createBashTool, type BashInput, type BashLimits, type BashOutput } from "./bash";
import { createDeleteTool, type DeleteInput, type DeleteOutput } from "./delete";
import { createEditTool, type EditInput, type EditOutput } from "./edit";
import { createFindTool, type FindInput, type FindOutput } from "./find";
import { createGrepTool, type GrepInput, type GrepOutput } from "./grep";
import { createListTool, type ListInput, type ListOutput } from "./list";
import type {
  BashOperations,
  DeleteOperations,
  EditOperations,
  FindOperations,
  GrepOperations,
  ListOperations,
  ReadOperations,
  WriteOperations
} from "./operations";
import { createReadTool, type ReadInput, type ReadOutput } from "./read";
import type { ConvertingTool, WorkspaceTool } from "./tool-shape";
import { createWriteTool, type WriteInput, type WriteOutput } from "./write";

/** The file tools, without `bash`. A type, not an interface, so that it is a `ToolSet`. */
export type WorkspaceFileTools = {
  readonly read: ConvertingTool<ReadInput, ReadOutput>;
  readonly write: WorkspaceTool<WriteInput, WriteOutput>;
  readonly edit: WorkspaceTool<EditInput, EditOutput>;
  readonly list: WorkspaceTool<ListInput, ListOutput>;
  readonly find: WorkspaceTool<FindInput, FindOutput>;
  readonly grep: WorkspaceTool<GrepInput, GrepOutput>;
  readonly delete: WorkspaceTool<DeleteInput, DeleteOutput>;
};

/** What `createWorkspaceTools` returns. */
export type WorkspaceTools = WorkspaceFileTools & {
  readonly bash: WorkspaceTool<BashInput, BashOutput>;
};

export interface WorkspaceToolsOptions {
  /** Whether there is a `bash` tool, and its limits. Default: true. */
  readonly bash?: boolean | BashLimits;
}

/** Creates the workspace tools: `read write edit list find grep delete`, and `bash` unless it is switched off. */
export function createWorkspaceTools(
  workspace: WorkspaceLike,
  options: WorkspaceToolsOptions & { readonly bash: false }
): WorkspaceFileTools;
export function createWorkspaceTools(
  workspace: WorkspaceLike,
  options?: WorkspaceToolsOptions & { readonly bash?: true | BashLimits }
): WorkspaceTools;
export function createWorkspaceTools(
  workspace: WorkspaceLike,
  options?: WorkspaceToolsOptions
): WorkspaceFileTools & Partial<WorkspaceTools>;
export function createWorkspaceTools(
  workspace: WorkspaceLike,
  options: WorkspaceToolsOptions = {}
): WorkspaceFileTools & Partial<WorkspaceTools> {
  const ops = operationsOf(workspace);
  const tools: WorkspaceFileTools = {
    read: createReadTool({ ops }),
    write: createWriteTool({ ops }),
    edit: createEditTool({ ops }),
    list: createListTool({ ops }),
    find: createFindTool({ ops }),
    grep: createGrepTool({ ops }),
    delete: createDeleteTool({ ops })
  };
  const bash = options.bash ?? true;
  if (bash === false) return tools;
  return { ...tools, bash: createBashTool({ ops, ...(bash === true ? {} : bash) }) };
}

type Operations = ReadOperations &
  WriteOperations &
  EditOperations &
  ListOperations &
  FindOperations &
  GrepOperations &
  DeleteOperations &
  BashOperations;

/** No file is this small. */
const NO_CONTENT = -1;

/** One object per storage and isolate: changes are made one after the other per object, across turns. */
const known = new WeakMap<WorkspaceLike, Operations>();

function operationsOf(workspace: WorkspaceLike): Operations {
  const existing = known.get(workspace);
  if (existing !== undefined) return existing;
  const fast = fastReads(workspace);
  const operations = { ...plainOperations(workspace), ...(fast === undefined ? {} : stockOperations(fast)) };
  known.set(workspace, operations);
  return operations;
}

/** Calls go through the workspace object, so that proxies and patched methods see them. */
function plainOperations(workspace: WorkspaceLike): Operations {
  return {
    readFile: (path) => workspace.readFile(path),
    readFileBytes: (path) => workspace.readFileBytes(path),
    writeFile: (path, content, ...type: [string?]) => workspace.writeFile(path, content, ...type),
    readDir: (path, options) => workspace.readDir(path, options),
    rm: (path, options) => workspace.rm(path, options),
    glob: (pattern) => workspace.glob(pattern),
    mkdir: (path, options) => workspace.mkdir(path, options),
    stat: (path) => workspace.stat(path),
    ...optionalOperations(workspace)
  };
}

function optionalOperations(workspace: WorkspaceLike): Partial<Operations> {
  return {
    ...(workspace.writeFileBytes === undefined
      ? {}
      : {
          writeFileBytes: async (path, content, ...type: [string?]) =>
            await workspace.writeFileBytes?.(path, content, ...type)
        }),
    ...(workspace.readFileStream === undefined
      ? {}
      : { readFileStream: async (path) => (await workspace.readFileStream?.(path)) ?? null }),
    ...(workspace.lstat === undefined
      ? {}
      : { lstat: async (path) => (await workspace.lstat?.(path)) ?? null })
  };
}

function stockOperations(fast: FastReads): Partial<Operations> {
  return {
    stat: async (path) => (await fast.readEntry(path, NO_CONTENT))?.info ?? null,
    lstat: (path) => fast.lstat(path),
    readEntry: (path, maxBytes) => fast.readEntry(path, maxBytes),
    readDir: (path, options) => fast.readDir(path, options),
    readWholeDir: (path, limit) => fast.readWholeDir(path, limit),
    readFileBytes: (path) => fast.readFileBytes(path),
    scan: (prefix) => fast.scan(prefix),
    scanContent: (prefix, suffix, maxBytes) => fast.scanContent(prefix, suffix, maxBytes),
    createsParents: true
  };
}
