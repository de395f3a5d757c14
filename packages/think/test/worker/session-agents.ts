/** The agent of the session tests: the recovery tests' agent, with a session that a test configures. */
import type { OnStartDegradation } from "@cloudflare/think";
import type { UIMessage } from "ai";
import type { Session } from "../../src/session/session";
import { RecoveryAgent } from "./recovery-agents";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly SessionAgent: DurableObjectNamespace<SessionAgent>;
    }
  }
}

/** What one test decides about its agent's sessions, in every isolate. */
export interface SessionSettings {
  configure?: (session: Session, agent: SessionAgent) => Session | Promise<Session>;
  hydrationByteBudget?: number;
  /** Ids of the sessions that were configured, in order. */
  readonly configured: (string | null)[];
}

const settings = new Map<string, SessionSettings>();

export function openSessions(name: string, chosen: Omit<SessionSettings, "configured">): SessionSettings {
  const all: SessionSettings = { ...chosen, configured: [] };
  settings.set(name, all);
  return all;
}

export class SessionAgent extends RecoveryAgent {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    const budget = this.hydrationByteBudget;
    Object.defineProperty(this, "hydrationByteBudget", {
      get: () => settings.get(this.name)?.hydrationByteBudget ?? budget,
      set() {}
    });
  }

  override async configureSession(session: Session): Promise<Session> {
    const chosen = settings.get(this.name);
    chosen?.configured.push(await this.getCurrentSessionId());
    return (await chosen?.configure?.(session, this)) ?? session;
  }

  override getSystemPrompt(): string {
    return "The author's prompt.";
  }

  /** The protected helpers, for tests. */
  append(message: UIMessage, parentId?: string | null): Promise<UIMessage> {
    return this.appendMessageToHistory(message, parentId);
  }

  update(message: UIMessage): Promise<UIMessage> {
    return this.updateMessageInHistory(message);
  }

  sync(): Promise<UIMessage[]> {
    return this.syncMessagesFromStorage();
  }

  /** Asynchronous: only such methods start a sleeping object. */
  async degradations(): Promise<string[]> {
    return this.getOnStartDegradations().map(({ step }: OnStartDegradation) => step);
  }
}
