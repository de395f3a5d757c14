/** The agent of the contract-api tests: records what its hooks were told; tests replace its other members on the instance. */
import {
  Think,
  type ChatErrorContext,
  type ChatResponseResult,
  type SaveMessagesOptions,
  type SaveMessagesResult
} from "@cloudflare/think";
import type { LanguageModel, UIMessage } from "ai";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly ContractApiAgent: DurableObjectNamespace<ContractApiAgent>;
    }
  }
}

const models = new Map<string, LanguageModel>();

export function useContractModel(name: string, model: LanguageModel): void {
  models.set(name, model);
}

type Configure = (session: Think["session"], agent: ContractApiAgent) => void | Promise<void>;

const configurations = new Map<string, Configure>();

/** What the instance does in `configureSession`; it must be known before the agent starts. */
export function useContractSession(name: string, configure: Configure): void {
  configurations.set(name, configure);
}

export class ContractApiAgent extends Think {
  readonly responses: ChatResponseResult[] = [];
  readonly errors: { readonly error: unknown; readonly context: ChatErrorContext | undefined }[] = [];
  readonly events: { readonly type: string; readonly payload: unknown }[] = [];
  replaceError: (error: unknown) => unknown = (error) => error;
  /** What was there when the agent's own `onStart` ran. */
  started: { readonly messages: number; readonly config: unknown } | undefined;

  override observability = {
    emit: ({ type, payload }: { readonly type: string; readonly payload?: unknown }) =>
      void this.events.push({ type, payload })
  } as never;

  override async configureSession(session: Think["session"]): Promise<Think["session"]> {
    await configurations.get(this.name)?.(session, this);
    return session;
  }

  override onStart(): void {
    this.started = { messages: this.messages.length, config: this.getConfig() };
    this.configure({ starts: (this.getConfig<{ starts: number }>()?.starts ?? 0) + 1 });
  }

  override getModel(): LanguageModel {
    return models.get(this.name) ?? super.getModel();
  }

  override onChatResponse(result: ChatResponseResult): void {
    this.responses.push(result);
  }

  override onChatError(error: unknown, context?: ChatErrorContext): unknown {
    this.errors.push({ error, context });
    return this.replaceError(error);
  }

  // The protected members, for tests.

  keep(message: UIMessage, parentId?: string | null): Promise<UIMessage> {
    return this.appendMessageToHistory(message, parentId);
  }

  change(message: UIMessage): Promise<UIMessage> {
    return this.updateMessageInHistory(message);
  }

  sync(): Promise<UIMessage[]> {
    return this.syncMessagesFromStorage();
  }

  goOn(body?: Record<string, unknown>, options?: SaveMessagesOptions): Promise<SaveMessagesResult> {
    return this.continueLastTurn(body, options);
  }

  stop(requestId: string): void {
    this.abortRequest(requestId);
  }

  stopAll(): void {
    this.abortAllRequests();
  }
}
