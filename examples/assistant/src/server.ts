/** The Worker: one `Assistant` per chat, reached at `/agents/assistant/{chat}`, and the page's one question. */
import { Think } from "@cloudflare/think";
import { routeAgentRequest } from "agents";
import type { LanguageModel } from "ai";
import { chooseModel, describeModel } from "./choose-model";
import type { Env } from "./env";

/** A chat with its own files, as every Think agent has them. Conversation and workspace live in this object's SQLite. */
export class Assistant extends Think<Env> {
  override getModel(): LanguageModel {
    return chooseModel(this.env);
  }

  override getSystemPrompt(): string {
    return [
      "You are a helpful assistant with a private workspace of files.",
      "Use the tools to look before you answer: list, read, find and grep to learn; write, edit and delete to change; bash for everything else.",
      "Paths are absolute. Answer in short Markdown, and say what you changed."
    ].join(" ");
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/api/model") return Response.json(describeModel(env));
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Env>;
