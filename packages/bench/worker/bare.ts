/**
 * What Think is measured against: the least that answers the same frames. One `streamText`, the SDK's own chunks, one frame per chunk to
 * every client, nothing stored. It gets no advantage that an author could not have, and no work that is Think's.
 */
import { convertToModelMessages, stepCountIs, streamText, tool, type ToolSet, type UIMessage } from "ai";
import { DurableObject } from "cloudflare:workers";
import { z } from "zod";
import { plannedModel } from "./model";

type Settings = Omit<Parameters<typeof streamText>[0], "model" | "messages" | "prompt">;

interface ChatRequest {
  readonly type: string;
  readonly id: string;
  readonly init: { readonly body: string };
}

export class Bare extends DurableObject {
  readonly #clients = new Set<WebSocket>();

  override fetch(): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    server.accept();
    server.addEventListener("message", ({ data }) => this.ctx.waitUntil(this.#answer(String(data))));
    server.addEventListener("close", () => this.#clients.delete(server));
    this.#clients.add(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Everything about the call but model and messages. */
  protected settings(): Settings {
    return {};
  }

  async #answer(data: string): Promise<void> {
    const { type, id, init } = JSON.parse(data) as ChatRequest;
    if (type !== "cf_agent_use_chat_request") return;
    const { messages } = JSON.parse(init.body) as { readonly messages: UIMessage[] };
    const result = streamText({
      ...this.settings(),
      model: plannedModel(),
      messages: await convertToModelMessages(messages)
    });
    for await (const chunk of result.toUIMessageStream())
      this.#send({ id, body: JSON.stringify(chunk), done: false });
    this.#send({ id, body: "", done: true });
  }

  #send(frame: { readonly id: string; readonly body: string; readonly done: boolean }): void {
    const text = JSON.stringify({ type: "cf_agent_use_chat_response", ...frame });
    for (const client of this.#clients) client.send(text);
  }
}

/** The same with what a turn of Think passes to the SDK: shows how much of a turn is the SDK's. */
export class BareAsTurn extends Bare {
  protected override settings(): Settings {
    return {
      system: "You are a helpful assistant.",
      tools: TOOLS,
      stopWhen: stepCountIs(10),
      prepareStep: () => Promise.resolve({}),
      abortSignal: new AbortController().signal,
      onError: () => undefined
    };
  }
}

/** As many as an agent has that adds none of its own. */
const TOOLS: ToolSet = Object.fromEntries(
  ["read", "write", "edit", "list", "find", "grep", "delete", "bash"].map((name) => [
    name,
    tool({
      description: `Does what ${name} does.`,
      inputSchema: z.object({ path: z.string() }),
      execute: () => ""
    })
  ])
);
