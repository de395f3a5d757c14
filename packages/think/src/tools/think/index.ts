export { createThinkTool, type ThinkToolAgent } from "./create-think-tool";
export type { SessionIdSource, ThinkInput, ThinkOutput, ThinkTool, ThinkToolOptions } from "./think-tool";
export {
  ThoughtLog,
  type RecordedThought,
  type ThoughtContext,
  type ThoughtLogOptions,
  type ThoughtSummary
} from "../../thoughts/thought-log";
export { ThoughtError, type ThoughtErrorCode } from "../../thoughts/thought-error";
export type { ThoughtStorage } from "../../thoughts/sql-thoughts";
export type { ThoughtEntry, ThoughtMetadata } from "../../thoughts/thought-store";
export type { ModelOutput, ToolCallOptions } from "../workspace/tool-shape";
