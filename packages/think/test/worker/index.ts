import { routeAgentRequest } from "agents";

export { BareAgent, ChatAgent } from "./chat-agents";
export { TestingChat } from "./testing-agents";

export default {
  async fetch(request: Request, env: Cloudflare.Env) {
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Cloudflare.Env>;
