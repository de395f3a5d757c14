/**
 * The agent the stock clients talk to. Its model is scripted by the text of the last user message (`scripts.ts`), and
 * the tests hold and release it over HTTP: `GET gate/{label}` waits until the model stands at that gate, `POST` opens it.
 * `POST mark/{label}` sends the label to every socket, behind all that was sent before. `POST session/{id}` goes to a session, `new` makes
 * one; `POST branch/{id}` follows the branch of a message.
 */
import { Think } from "@cloudflare/think";
import { gate, scriptedModel, type Gate } from "@cloudflare/think/testing";
import { tool, type LanguageModel, type ToolSet } from "ai";
import { z } from "zod";
import { answer } from "./scripts";

/** How long a request waits for the model to reach a gate (milliseconds). */
const PATIENCE = 8000;

export class Chat extends Think {
  readonly #gates = new Map<string, Gate>();
  readonly #model = scriptedModel((call) => answer(call, (label) => this.#gate(label)), { deltaSize: 3 });
  #deletions = 0;

  override getModel(): LanguageModel {
    return this.#model;
  }

  override getTools(): ToolSet {
    return {
      weather: tool({
        description: "The weather in a city.",
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }) => ({ city, sky: "sunny" })
      }),
      deleteFile: tool({
        description: "Deletes a file, once a human agrees.",
        inputSchema: z.object({ path: z.string() }),
        needsApproval: true,
        execute: ({ path }) => {
          this.#deletions += 1;
          return { path, deletions: this.#deletions };
        }
      })
    };
  }

  override async onRequest(request: Request): Promise<Response> {
    const [, kind, label] =
      /\/(gate|mark|session|branch)\/([\w-]+)$/u.exec(new URL(request.url).pathname) ?? [];
    if (label === undefined) return new Response("Not found", { status: 404 });
    if (kind === "mark") this.broadcast(JSON.stringify({ mark: label }));
    else if (kind === "branch") await this.switchBranch(label);
    else if (kind === "session") await (label === "new" ? this.createSession() : this.switchSession(label));
    else if (request.method === "POST") this.#gate(label).open();
    else await this.#gate(label).reached;
    return new Response("ok");
  }

  #gate(label: string): Gate {
    const known = this.#gates.get(label) ?? gate({ timeout: PATIENCE });
    this.#gates.set(label, known);
    return known;
  }
}
