export {
  createExecuteRuntime,
  createExecuteTool,
  type ExecuteInput,
  type ExecuteRuntime,
  type ExecuteTool
} from "./create-execute-tool";
export type { ExecuteProvider } from "./connectors";
export type { ExecuteAgent, ExecuteOptions } from "./options";
export type { ExecutePackages } from "./packages";
export {
  truncatePausedExecutionOutput,
  type ExecuteOutput,
  type ExecutionOutcome,
  type PendingAction
} from "./outputs";
