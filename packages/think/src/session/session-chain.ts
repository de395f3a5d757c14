/**
 * The settings of a session manager, noted by its chain and given to every session it opens.
 *
 * I1. Once a session is open nothing can be added: the sessions of one manager have the same settings.
 */
import { ThinkError } from "../shared/errors/think-error";
import type { CompactFunction, TokenCounter } from "./compaction/compact-types";
import type { ContextConfig } from "./context/block";
import type { PromptStore } from "./context/frozen-prompt";
import { Session } from "./session";
import { checkThreshold } from "./session-settings";
import type { SessionSource } from "./session-source";

type Setting = (session: Session, sessionId: string) => void;

export abstract class SessionChain {
  readonly #settings: Setting[] = [];
  readonly #labels = new Set<string>();
  readonly #sessions = new Map<string, Session>();

  /** Adds a block to the system prompt of every session. Without a provider each session has a durable block of its own. */
  withContext(label: string, options: ContextConfig = {}): this {
    this.#note((session) => session.withContext(label, options));
    if (!options.provider) this.#labels.add(label);
    return this;
  }

  /** Keeps prompts across restarts: in the host's database, or where the function says for a session. */
  withCachedPrompt(store: true | ((sessionId: string) => PromptStore) = true): this {
    return this.#note((session, id) => session.withCachedPrompt(store === true ? true : store(id)));
  }

  /** Registers what shortens a conversation, for example `createCompactFunction({ summarize })`. */
  onCompaction(compactFunction: CompactFunction): this {
    return this.#note((session) => session.onCompaction(compactFunction));
  }

  /** Compacts a session by itself when it is estimated at more than so many tokens. Default: never. */
  compactAfter(tokens: number, options: { readonly tokenCounter?: TokenCounter } = {}): this {
    checkThreshold(tokens);
    return this.#note((session) => session.compactAfter(tokens, options));
  }

  /** Told when a compaction fails; the conversation goes on in any case. Default: a warning in the log. */
  onCompactionError(handler: (error: unknown) => void): this {
    return this.#note((session) => session.onCompactionError(handler));
  }

  /** The session of an id, made and configured once. */
  protected configured(sessionId: string, source: () => SessionSource): Session {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const session = new Session(source());
    for (const set of this.#settings) set(session, sessionId);
    this.#sessions.set(sessionId, session);
    return session;
  }

  protected forgetSession(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  /** Labels of the blocks that sessions store themselves: of the chain, and of blocks that were added to open sessions later. */
  protected durableLabels(): string[] {
    const added = [...this.#sessions.values()].flatMap((session) => session.durableLabels);
    return [...new Set([...this.#labels, ...added])];
  }

  #note(setting: Setting): this {
    if (this.#sessions.size > 0)
      throw new ThinkError(
        "This session manager is in use and can no longer be configured: its sessions share one configuration. Configure it right after create().",
        { code: "invalid-session" }
      );
    this.#settings.push(setting);
    return this;
  }
}
