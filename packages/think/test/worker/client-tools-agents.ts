/** The agent of the client-tool tests: tools that need approval, and a record of what happened. */
import { Think, type ChatErrorContext, type ChatResponseResult } from "@cloudflare/think";
import { tool, type LanguageModel, type ToolSet } from "ai";
import { z } from "zod";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly ClientToolsAgent: DurableObjectNamespace<ClientToolsAgent>;
    }
  }
}

const models = new Map<string, LanguageModel>();

export function useClientToolsModel(name: string, model: LanguageModel): void {
  models.set(name, model);
}

const anything = z.object({});

export class ClientToolsAgent extends Think {
  /** These tests are about what happens without recovery; `recovery-*.test.ts` are about what happens with it. */
  override chatRecovery = false;

  readonly responses: ChatResponseResult[] = [];
  readonly errors: string[] = [];
  /** The chat's own observability events. */
  readonly events: string[] = [];
  /** Server tools that were executed, in order. */
  readonly executed: string[] = [];
  /** Sockets whose end the chat knows of. */
  closes = 0;

  override observability = {
    emit: ({ type }: { type: string }) => {
      if (type.startsWith("chat:")) this.events.push(type);
    }
  } as never;

  override getModel(): LanguageModel {
    return models.get(this.name) ?? super.getModel();
  }

  override getTools(): ToolSet {
    const run = (name: string, result: () => unknown) => () => {
      this.executed.push(name);
      return result();
    };
    return {
      wipe: tool({
        inputSchema: anything,
        needsApproval: true,
        execute: run("wipe", () => ({ wiped: true }))
      }),
      explode: tool({
        inputSchema: anything,
        needsApproval: true,
        execute: run("explode", () => {
          throw new Error("no fuse");
        })
      }),
      count: tool({
        inputSchema: anything,
        needsApproval: true,
        async *execute() {
          yield 1;
          yield 2;
        }
      }),
      look: tool({ inputSchema: anything, execute: run("look", () => "seen") })
    };
  }

  override onClose(): void {
    this.closes += 1;
  }

  override onChatResponse(result: ChatResponseResult): void {
    this.responses.push(result);
  }

  override onChatError(error: unknown, _context?: ChatErrorContext): unknown {
    this.errors.push(error instanceof Error ? error.message : String(error));
    return error;
  }

  isAsking(): boolean {
    return this.hasPendingInteraction();
  }

  async isStable(timeout?: number): Promise<boolean> {
    return this.waitUntilStable(timeout === undefined ? {} : { timeout });
  }

  reset(): void {
    this.resetTurnState();
  }
}
