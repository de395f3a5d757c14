/** The agent of the turn tests: records what its hooks were told. */
import {
  Think,
  type ChatErrorContext,
  type ChatResponseResult,
  type SaveMessagesResult,
  type StreamCallback
} from "@cloudflare/think";
import type { LanguageModel } from "ai";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly TurnAgent: DurableObjectNamespace<TurnAgent>;
    }
  }
}

const models = new Map<string, LanguageModel>();

export function useTurnModel(name: string, model: LanguageModel): void {
  models.set(name, model);
}

const failing = new Set<string>();

/** The agent's next read of its history fails. */
export function failHydrationOnce(name: string): void {
  failing.add(name);
}

export class TurnAgent extends Think {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    // Read by the hydration, and by nothing before it.
    Object.defineProperty(this, "hydrationByteBudget", {
      get: () => {
        if (failing.delete(this.name)) throw new Error("storage is not ready");
        return 0;
      }
    });
  }

  readonly responses: ChatResponseResult[] = [];
  readonly errors: { readonly text: string; readonly context: ChatErrorContext | undefined }[] = [];
  readonly events: { readonly type: string; readonly payload: unknown }[] = [];
  afterResponse: ((result: ChatResponseResult) => void | Promise<void>) | undefined;
  replaceError: ((error: unknown) => unknown) | undefined;

  override observability = {
    emit: (event: { type: string; payload?: unknown }) =>
      void this.events.push({ type: event.type, payload: event.payload })
  } as never;

  override getModel(): LanguageModel {
    return models.get(this.name) ?? super.getModel();
  }

  override async onChatResponse(result: ChatResponseResult): Promise<void> {
    this.responses.push(result);
    await this.afterResponse?.(result);
  }

  override onChatError(error: unknown, context?: ChatErrorContext): unknown {
    this.errors.push({ text: error instanceof Error ? error.message : String(error), context });
    return this.replaceError ? this.replaceError(error) : error;
  }

  /** `chat()` with everything the callback was told. */
  async recordChat(
    text: string,
    options: { readonly signal?: AbortSignal; readonly onStart?: (id: string) => void } = {}
  ) {
    const calls: string[] = [];
    const callback: StreamCallback = {
      onStart: ({ requestId }) => {
        calls.push("start");
        options.onStart?.(requestId);
      },
      onEvent: () => {
        if (calls.at(-1) !== "event") calls.push("event");
      },
      onDone: () => void calls.push("done"),
      onError: (error) => void calls.push(`error: ${error}`)
    };
    await this.chat(text, callback, options.signal ? { signal: options.signal } : {});
    return calls;
  }

  continueNow(): Promise<SaveMessagesResult> {
    return this.continueLastTurn();
  }

  reset(): void {
    this.resetTurnState();
  }
}
