/** The server of the kill tests. `GET /ledger/{name}` reads a ledger without waking the agent. */
import { routeAgentRequest } from "agents";

export { Chat } from "./chat";
export { Ledger } from "./ledger";

export default {
  async fetch(request: Request, env: Cloudflare.Env) {
    const [, name] = /^\/ledger\/([\w-]+)$/u.exec(new URL(request.url).pathname) ?? [];
    if (name !== undefined) return Response.json(await env.Ledger.getByName(name).runs());
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Cloudflare.Env>;
