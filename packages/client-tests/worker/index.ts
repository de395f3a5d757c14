/** The server of the client tests: an ordinary Worker that routes to the agent, as a user would write it. */
import { routeAgentRequest } from "agents";

export { Chat } from "./chat";

export default {
  async fetch(request: Request, env: Cloudflare.Env) {
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Cloudflare.Env>;
