/** The agents of the chat tests. A test gives each instance its model by name, so that it survives evictions. */
import { Think } from "@cloudflare/think";
import type { LanguageModel, ToolSet } from "ai";
import { tool } from "ai";
import { Agent, type Connection, type WSMessage } from "agents";
import { z } from "zod";

const models = new Map<string, LanguageModel>();

export function useModel(name: string, model: LanguageModel): void {
  models.set(name, model);
}

export class ChatAgent extends Think {
  /** These tests are about what happens without recovery; `recovery-*.test.ts` are about what happens with it. */
  override chatRecovery = false;

  /** Messages that reached the agent's own handler. */
  readonly received: WSMessage[] = [];

  override getModel(): LanguageModel {
    return models.get(this.name) ?? super.getModel();
  }

  override getTools(): ToolSet {
    return {
      add: tool({
        description: "Adds two numbers.",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: ({ a, b }) => ({ sum: a + b })
      })
    };
  }

  override onMessage(_connection: Connection, message: WSMessage): void | Promise<void> {
    this.received.push(message);
  }

  override onRequest(): Response {
    return new Response("mine");
  }
}

/** Overrides nothing: what a newcomer has before the first method. */
export class BareAgent extends Think {}

/** The base class alone, to measure what Think adds. */
export class PlainAgent extends Agent<Cloudflare.Env> {}
