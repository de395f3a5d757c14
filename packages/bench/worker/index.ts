/** All sides in one Worker, so that they share one copy of the SDK and one process. `GET /{side}/{name}` opens a socket. */
import { Think } from "@cloudflare/think";
import { routeAgentRequest } from "agents";
import type { LanguageModel } from "ai";
import type { Bare, BareAsTurn } from "./bare";
import type { Files } from "./files";
import { plannedModel } from "./model";

export { Bare, BareAsTurn } from "./bare";
export { Files } from "./files";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly Chat: DurableObjectNamespace<Chat>;
      readonly Files: DurableObjectNamespace<Files>;
      readonly Bare: DurableObjectNamespace<Bare>;
      readonly BareAsTurn: DurableObjectNamespace<BareAsTurn>;
    }
  }
}

/** An agent as it comes: nothing but a model. */
export class Chat extends Think {
  override getModel(): LanguageModel {
    return plannedModel();
  }
}

export default {
  async fetch(request: Request, env: Cloudflare.Env): Promise<Response> {
    const [, side, name = ""] = new URL(request.url).pathname.split("/");
    if (side === "bare") return env.Bare.getByName(name).fetch(request);
    if (side === "bare-as-turn") return env.BareAsTurn.getByName(name).fetch(request);
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Cloudflare.Env>;
