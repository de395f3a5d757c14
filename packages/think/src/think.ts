/**
 * The class that users extend: override points with defaults, and one-line delegations. Behaviour lives in the modules that
 * `compose` builds; private state is one field, so subclasses cannot collide with it.
 */
import { Agent } from "agents";
import type { LanguageModel, ToolSet, UIMessage } from "ai";
import { compose, type Modules } from "./compose";
import { createAgentHost } from "./host/agent-host";
import { installChat } from "./host/install-chat";
import { DEFAULT_SYSTEM_PROMPT } from "./loop/default-prompt";
import type { LoopAgent } from "./loop/run-loop";
import { ThinkError } from "./shared/errors/think-error";
import { LIMITS } from "./shared/limits";

/**
 * A chat agent. Extend it, override `getModel()`, and connect with `useAgentChat`.
 *
 * @typeParam Env - the Worker's bindings
 * @typeParam State - the agent's synced state, as in `Agent`
 * @typeParam Props - properties passed at start, as in `Agent`
 */
export class Think<
  Env extends Cloudflare.Env = Cloudflare.Env,
  State = unknown,
  Props extends object = object
> extends Agent<Env, State, Props> {
  /** Most model steps (tool-call rounds) in one turn. Default: 10. */
  maxSteps: number = LIMITS.maxSteps;

  /** Whether reasoning chunks are sent to clients. Default: true. */
  sendReasoning = true;

  readonly #modules: Modules;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#modules = compose(createAgentHost(this, ctx.storage), this.#loopAgent());
    installChat(this, this.#modules.transport);
  }

  /** The model of every turn. Must be overridden. */
  getModel(): LanguageModel {
    const name = this.constructor.name;
    throw new ThinkError(
      `${name} has no model. Override getModel() in ${name} and return a language model, for example createWorkersAI({ binding: this.env.AI })("@cf/...").`,
      { code: "model-missing" }
    );
  }

  /** The system prompt. Default: rules for careful work. */
  getSystemPrompt(): string | Promise<string> {
    return DEFAULT_SYSTEM_PROMPT;
  }

  /** The tools the model may call. Default: none. */
  getTools(): ToolSet {
    return {};
  }

  /** The conversation in memory, oldest first. Treat it as read-only. */
  get messages(): readonly UIMessage[] {
    return this.#modules.conversation.messages;
  }

  /** A copy of the conversation, oldest first. */
  async getMessages(): Promise<UIMessage[]> {
    return structuredClone([...this.messages]);
  }

  /** Deletes the conversation, stops what is running and tells every client. */
  async clearMessages(): Promise<void> {
    this.#modules.transport.clear();
  }

  #loopAgent(): LoopAgent {
    return {
      model: () => this.getModel(),
      systemPrompt: () => this.getSystemPrompt(),
      tools: () => this.getTools(),
      maxSteps: () => this.maxSteps,
      sendReasoning: () => this.sendReasoning
    };
  }
}
