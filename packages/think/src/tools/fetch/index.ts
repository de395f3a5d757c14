export {
  createFetchTool,
  type FetchInput,
  type FetchOutput,
  type FetchToolOptions
} from "./create-fetch-tool";
export type { FetchFunction } from "./request";
export type { ToolCallOptions, ToolFailure, WorkspaceTool } from "../workspace/tool-shape";
