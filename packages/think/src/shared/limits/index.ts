/** Every numeric limit of the package in one place, each with its unit and the reason for its size. */
export { LIMITS } from "./chat";
export { LOOP_LIMITS } from "./loop";
export { MESSAGE_LIMITS } from "./messages";
export { WORKSPACE_TOOL_LIMITS } from "./workspace-tools";
