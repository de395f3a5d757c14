/** Every numeric limit of the package in one place, each with its unit and the reason for its size. */
export { FETCH_TOOL_LIMITS } from "./fetch-tool";
export { LIMITS } from "./chat";
export { CHILD_RUN_LIMITS } from "./child-runs";
export { COMPACTION_LIMITS } from "./compaction";
export { CONTEXT_LIMITS } from "./context";
export { EXECUTE_LIMITS } from "./execute";
export { LOOP_LIMITS } from "./loop";
export { MESSAGE_LIMITS } from "./messages";
export { ORCHESTRATOR_LIMITS } from "./orchestrator";
export { SESSION_LIMITS } from "./session";
export { THINK_TOOL_LIMITS } from "./think-tool";
export { RECOVERY_LIMITS } from "./recovery";
export { WORKSPACE_TOOL_LIMITS } from "./workspace-tools";
