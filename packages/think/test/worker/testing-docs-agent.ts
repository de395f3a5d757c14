import { Think } from "@cloudflare/think";
import { routeAgentRequest } from "agents";
import { tool, type LanguageModel } from "ai";
import { z } from "zod";

export class Librarian extends Think {
  override getModel(): LanguageModel {
    return "anthropic/claude-sonnet-4.5"; // any AI SDK model
  }

  override getTools() {
    return {
      findBook: tool({
        description: "Finds a book in the catalogue.",
        inputSchema: z.object({ title: z.string() }),
        execute: async ({ title }) => ({ title, author: "Frank Herbert", shelf: 12 })
      })
    };
  }
}

// `wrangler types` writes this declaration for you.
declare global {
  namespace Cloudflare {
    interface Env {
      Librarian: DurableObjectNamespace<Librarian>;
    }
  }
}

export default {
  async fetch(request, env) {
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Cloudflare.Env>;
