/**
 * The `Session` of an agent: made anew, and configured by its author, when the agent starts and when another session becomes active. All
 * of them share the agent's conversation, so what is stored through one is what turns and clients see.
 */
import type { ToolSet } from "ai";
import { errorText } from "../shared/errors/error-text";
import { ThinkError } from "../shared/errors/think-error";
import { Session } from "./session";
import type { SessionSource } from "./session-source";

export interface AgentSessionOptions {
  /** Asked for each new session object. */
  readonly source: () => SessionSource;
  readonly configure: (session: Session) => Session | Promise<Session>;
}

export class AgentSession {
  readonly #options: AgentSessionOptions;
  #current: Session | undefined;
  #configured: Promise<void> = Promise.resolve();

  constructor(options: AgentSessionOptions) {
    this.#options = options;
  }

  /** The configured session; before the agent has started, one without settings. */
  get current(): Session {
    this.#current ??= new Session(this.#options.source());
    return this.#current;
  }

  /** Makes and configures the session that is active now. Rejects when its author's configuration fails; it is usable even so. */
  enter(): Promise<void> {
    const fresh = new Session(this.#options.source());
    this.#current = fresh;
    const configuring = this.#configure(fresh);
    this.#configured = configuring.catch(() => undefined);
    return configuring;
  }

  /** Resolves when the session that is active now is configured, or as far as it can be. A turn before that would freeze it half done. */
  async ready(): Promise<void> {
    let awaited: Promise<void>;
    do {
      awaited = this.#configured;
      await awaited;
    } while (awaited !== this.#configured);
  }

  async #configure(fresh: Session): Promise<void> {
    const configured = await this.#options.configure(fresh);
    if (configured !== fresh)
      throw new ThinkError(
        "configureSession() must return the session it was given, configured by its chain; another one would not be the agent's conversation.",
        { code: "invalid-session" }
      );
  }

  /** The prompt made of context blocks; empty when there are none. */
  async prompt(): Promise<string> {
    return this.#hasContext() ? this.current.freezeSystemPrompt() : "";
  }

  async tools(): Promise<ToolSet> {
    return this.#hasContext() ? this.current.tools() : {};
  }

  /** The conversation goes on from elsewhere: what is loaded there is found in its messages. */
  branched(): void {
    this.#current?.forgetLoadedSkills();
  }

  /** The conversation was cleared: nothing is loaded any more, and blocks may have new content. */
  cleared(): void {
    this.current.forgetLoadedSkills();
    if (!this.#hasContext()) return;
    void this.current.refreshSystemPrompt().catch((error: unknown) => {
      console.error(`[Think] The system prompt could not be refreshed after a clear: ${errorText(error)}`);
    });
  }

  #hasContext(): boolean {
    return this.current.getContextBlocks().length > 0;
  }
}
