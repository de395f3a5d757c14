export {
  AgentRegistry,
  type AgentChanges,
  type AgentRegistryOptions,
  type ChildAddress,
  type RegisterOptions,
  type RegistryAgent
} from "./agent-registry";
export type { OpenBridge } from "./bridge-line";
export type { BridgeCall, FileOperation, FileReply, RemoteToolBridge } from "./bridge-protocol";
export { mcpTools, type McpSelection, type McpToolSource } from "./mcp-tools";
export { ParentBridge, type SharedToolOptions } from "./parent-bridge";
export type { AgentRecord, AgentStatus, ListOptions } from "./registry-store";
export { restrictWorkspace, type WorkspaceRestriction } from "./restrict-workspace";
export type { ToolSource } from "./shared-tools";
export { ToolBridge, type SharedFiles, type ToolBridgeOptions } from "./tool-bridge";
