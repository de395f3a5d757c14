import { routeAgentRequest } from "agents";

export { PlainChild, ToolChild, ToolParent } from "./agent-tools-agents";
export { BareAgent, ChatAgent, PlainAgent } from "./chat-agents";
export { ContractApiAgent } from "./contract-api-agents";
export { ClientToolsAgent } from "./client-tools-agents";
export { CodemodeRuntime } from "@cloudflare/codemode";
export { ExecuteAgent } from "./execute-agents";
export { FilesAgent } from "./files-agents";
export { LoopTestAgent } from "./loop-agents";
export { LoopMcpServer } from "./loop-mcp-server";
export { Assistant, Helper, Orchestrator } from "./orchestrator-agents";
export { RecoveryAgent } from "./recovery-agents";
export { SessionAgent } from "./session-agents";
export { TestingChat } from "./testing-agents";
export { ToolsLab } from "./tools-agents";
export { Librarian } from "./testing-docs-agent";
export { TurnAgent } from "./turn-agents";
export { WireAgent } from "./wire-agents";

export default {
  async fetch(request: Request, env: Cloudflare.Env) {
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Cloudflare.Env>;
