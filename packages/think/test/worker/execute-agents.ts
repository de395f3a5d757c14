/** The agents of the tests of `execute`: tools with and without approval, and a record of what ran. */
import { Think } from "@cloudflare/think";
import { createExecuteTool, type ExecuteOptions } from "@cloudflare/think/tools/execute";
import { tool, type LanguageModel, type ToolSet } from "ai";
import { z } from "zod";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly LOADER: WorkerLoader;
      readonly ExecuteAgent: DurableObjectNamespace<ExecuteAgent>;
    }
  }
}

const models = new Map<string, LanguageModel>();

export function useExecuteModel(name: string, model: LanguageModel): void {
  models.set(name, model);
}

/** What has run, by agent name: it must survive the eviction of the object. */
export const ran = new Map<string, unknown[]>();

export const sum = tool({
  description: "Adds two numbers.",
  inputSchema: z.object({ a: z.number().describe("The first one."), b: z.number() }),
  execute: ({ a, b }) => a + b
});

export class ExecuteAgent extends Think<Cloudflare.Env> {
  /** For tests that change what is exposed. */
  overrides: ExecuteOptions = {};
  toolsAsked = 0;

  override getModel(): LanguageModel {
    return models.get(this.name) ?? super.getModel();
  }

  get ran(): unknown[] {
    const list = ran.get(this.name) ?? [];
    ran.set(this.name, list);
    return list;
  }

  /** The tools that code may call. */
  sandboxTools(): ToolSet {
    return {
      sum,
      pay: tool({
        description: "Pays money.",
        inputSchema: z.object({ to: z.string(), amount: z.number() }),
        needsApproval: true,
        execute: (input) => {
          this.ran.push(input);
          return { paid: input.amount };
        }
      }),
      note: tool({
        inputSchema: z.object({ text: z.string() }),
        needsApproval: () => false,
        execute: ({ text }) => {
          this.ran.push(text);
          return text.length;
        }
      }),
      "send-mail.now": tool({
        inputSchema: z.object({}),
        execute: (_input, { toolCallId }) => toolCallId
      }),
      shown: tool({ description: "Runs in the client.", inputSchema: z.object({}) })
    };
  }

  override getTools(): ToolSet {
    this.toolsAsked += 1;
    return { execute: createExecuteTool(this, { tools: this.sandboxTools(), ...this.overrides }) };
  }

  dropRuntime(): void {
    this.codemode = undefined;
  }

  get storageContext(): DurableObjectState {
    return this.ctx;
  }

  get bindings(): Cloudflare.Env {
    return this.env;
  }

  forget(): void {
    void this.clearMessages();
  }
}
