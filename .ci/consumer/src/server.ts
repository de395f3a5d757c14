// The smallest app of a user, installed from the packed package by `.ci/consumer.mjs`.
import { Think } from "@cloudflare/think";
import { scriptedModel } from "@cloudflare/think/testing";
import { routeAgentRequest } from "agents";

interface Env extends Cloudflare.Env {
  readonly MyAgent: DurableObjectNamespace<MyAgent>;
}

export class MyAgent extends Think<Env> {
  override getModel() {
    return scriptedModel(["Hello from the packed package."]);
  }
}

export default {
  async fetch(request, env) {
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Env>;
