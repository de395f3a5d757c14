/** The Worker: one `Assistant` per chat, reached at `/agents/assistant/{chat}`, and the page's one question. */
import { Workspace } from "@cloudflare/shell";
import { Think } from "@cloudflare/think";
import { createWorkspaceTools } from "@cloudflare/think/tools/workspace";
import { routeAgentRequest } from "agents";
import type { LanguageModel, ToolSet } from "ai";
import { chooseModel, describeModel } from "./choose-model";
import type { Env } from "./env";

/** A chat with its own files. Conversation and workspace live in this object's SQLite. */
export class Assistant extends Think<Env> {
  readonly workspace = new Workspace({ sql: this.ctx.storage.sql, name: () => this.name });

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

  override getTools(): ToolSet {
    return createWorkspaceTools(this.workspace);
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/api/model") return Response.json(describeModel(env));
    return (await routeAgentRequest(request, env)) ?? new Response("Not found", { status: 404 });
  }
} satisfies ExportedHandler<Env>;
