export type {
  FileInfo,
  EntryInfo,
  ReadDirOptions,
  RemoveOptions,
  WorkspaceLike
} from "../../workspace/workspace-like";
export type { ContentEntry } from "../../workspace/stock-workspace";
export {
  createWorkspaceTools,
  type WorkspaceFileTools,
  type WorkspaceTools,
  type WorkspaceToolsOptions
} from "./create-workspace-tools";
export {
  createBashTool,
  type BashInput,
  type BashLimits,
  type BashOutput,
  type BashToolOptions
} from "./bash";
export type { BashNetwork } from "./bash-shell";
export type { ChangedFiles } from "../../workspace/mount/write-back";
export { createDeleteTool, type DeleteInput, type DeleteOutput } from "./delete";
export { createEditTool, type EditInput, type EditOutput } from "./edit";
export { createFindTool, type FindInput, type FindOutput } from "./find";
export { createGrepTool, type GrepInput, type GrepOutput } from "./grep";
export type { GrepMatch } from "./grep-file";
export { createListTool, type ListInput, type ListOutput } from "./list";
export {
  createReadTool,
  type ReadInput,
  type ReadMediaOutput,
  type ReadOutput,
  type ReadTextOutput
} from "./read";
export { createWriteTool, type WriteInput, type WriteOutput } from "./write";
export type {
  BashOperations,
  DeleteOperations,
  EditOperations,
  FindOperations,
  GrepOperations,
  ListOperations,
  ReadOperations,
  WriteOperations
} from "./operations";
export type { ConvertingTool, ModelOutput, ToolCallOptions, ToolFailure, WorkspaceTool } from "./tool-shape";
