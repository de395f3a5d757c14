/**
 * The agent that is killed. Its model does fifty steps, one tool call each, and says that it is done; what has a result in the prompt is not
 * asked for again. `POST arm` begins to count writes (and names the one to stop at), `GET points` lists them, `GET rest` tells what is stored
 * of recovery.
 */
import { Think } from "@cloudflare/think";
import {
  scriptedModel,
  text,
  toolCall,
  type ScriptAnswer,
  type ScriptedCall
} from "@cloudflare/think/testing";
import { tool, type LanguageModel, type ToolSet } from "ai";
import { z } from "zod";
import { FaultPoints, type Fault } from "./fault-points";
import type { Ledger } from "./ledger";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly Chat: DurableObjectNamespace<Chat>;
      readonly Ledger: DurableObjectNamespace<Ledger>;
      /** JSON of a `Fault` with the agent's name: where this process stops. */
      readonly FAULT?: string;
    }
  }
}

const STEPS = 50;

export class Chat extends Think {
  override maxSteps = STEPS + 10;
  readonly #faults: FaultPoints;
  readonly #model = scriptedModel(nextStep);

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    this.#faults = new FaultPoints(ctx.storage);
    const planned = env.FAULT ? (JSON.parse(env.FAULT) as Fault & { readonly name: string }) : undefined;
    // Everything that an object does after a restart counts, its waking included.
    if (planned !== undefined && ctx.id.equals(env.Chat.idFromName(planned.name))) this.#faults.arm(planned);
  }

  override getModel(): LanguageModel {
    return this.#model;
  }

  override getTools(): ToolSet {
    return {
      work: tool({
        description: "Does one step.",
        inputSchema: z.object({ step: z.number() }),
        execute: async ({ step }) => ({ step, run: await this.env.Ledger.getByName(this.name).record(step) })
      })
    };
  }

  override async onRequest(request: Request): Promise<Response> {
    const action = new URL(request.url).pathname.split("/").at(-1);
    switch (action) {
      case "arm":
        this.#faults.arm((await request.json<Fault | null>()) ?? undefined);
        return new Response();
      case "points":
        return Response.json(this.#faults.seen);
      case "rest":
        return Response.json(await this.#rest());
      case "ask":
        // A turn that nobody watches. It outlives the request.
        void this.saveMessages([{ id: "question", role: "user", parts: [{ type: "text", text: "Go." }] }]);
        return new Response();
      default:
        return new Response("Not found", { status: 404 });
    }
  }

  async #rest() {
    const { kv } = this.ctx.storage;
    return {
      keys: [...kv.list({ prefix: "cf:chat" })].map(([key]) => key),
      schedules: (await this.listSchedules()).map(({ callback }) => callback),
      alarm: await this.ctx.storage.getAlarm()
    };
  }
}

/** The first step that has no result yet. */
function nextStep({ prompt }: ScriptedCall): ScriptAnswer {
  const done = new Set<number>();
  for (const message of prompt) {
    if (message.role !== "tool") continue;
    for (const part of message.content)
      if (part.type === "tool-result" && part.output.type === "json") done.add(stepOf(part.output.value));
  }
  for (let step = 1; step <= STEPS; step += 1)
    if (!done.has(step)) return [text(`Step ${step}. `), toolCall("work", { step })];
  return `All ${STEPS} steps are done.`;
}

function stepOf(output: unknown): number {
  return z.object({ step: z.number() }).parse(output).step;
}
