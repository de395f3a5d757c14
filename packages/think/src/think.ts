/**
 * The class that users extend: override points with defaults, and one-line delegations. Behaviour lives in the modules that
 * `compose` builds; private state is one field, so subclasses cannot collide with it.
 */
import { getCurrentAgent, type FiberContext } from "agents";
import type { LanguageModel, ToolSet, UIMessage } from "ai";
import { compose, type Modules } from "./compose";
import type { ExecutionRuntime } from "./executions/executions";
import { createAgentHost } from "./host/agent-host";
import { attachmentFiles } from "./host/attachments";
import { markCallable } from "./host/mark-callable";
import { installChat } from "./host/install-chat";
import { installParentRuns } from "./host/parent-runs";
import type { OnStartDegradation } from "./host/start-steps";
import { installWorkspace } from "./host/workspace-member";
import { isWithinTurn, outsideTurns } from "./host/turn-scope";
import { DEFAULT_SYSTEM_PROMPT } from "./loop/default-prompt";
import type {
  AgentHooks,
  ChunkContext,
  PrepareStepContext,
  StepConfig,
  StepContext,
  StreamableResult,
  ToolCallContext,
  ToolCallDecision,
  ToolCallResultContext,
  TurnContext
} from "./loop/hook-types";
import { overriddenHooks } from "./loop/hooks";
import type { LoopAuthor, McpWait } from "./loop/loop-agent";
import { failInterruptedPart, type StoredToolPart } from "./loop/repair-transcript";
import type { TurnConfig } from "./loop/turn-config";
import type { ChatRecoveryConfig } from "./recovery/config";
import type { ContextOverflowConfig } from "./recovery/overflow";
import type { ChatRecoveryContext, ChatRecoveryOptions } from "./recovery/recovery-types";
import type { MediaEvictionSetting } from "./session/media-settings";
import type { Session } from "./session/session";
import { withAgentScope } from "./shared/agent-scope";
import { ThinkError } from "./shared/errors/think-error";
import { LIMITS, MESSAGE_LIMITS } from "./shared/limits";
import type { ChatOptions, MessagesInput, SaveMessagesOptions, SaveMessagesResult } from "./turn/chat-api";
import type { ChatErrorClassification, ChatErrorContext } from "./turn/failures";
import type { StreamCallback } from "./turn/stream-callback";
import type { MessageConcurrency } from "./turn/submit-gate";
import { ThinkChildRuns } from "./think-child-runs";
import { MODULES } from "./think-sessions";
import { toChatResponse, type ChatResponseResult } from "./turn/chat-response";
import type { ExecutionOutcome, PendingAction } from "./tools/execute/outputs";
import type { BashLimits } from "./tools/workspace/bash";
import { createWorkspaceTools } from "./tools/workspace/create-workspace-tools";
import type { WorkspaceLike } from "./workspace/workspace-like";

/** Key of the author's settings in `think_config`. */
const CONFIG = "_think_config";

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
> extends ThinkChildRuns<Env, State, Props> {
  /** Most model steps (tool-call rounds) in one turn. Default: 10. */
  maxSteps: number = LIMITS.maxSteps;

  /** Whether reasoning chunks are sent to clients. Default: true. */
  sendReasoning = true;

  /** Whether a turn waits for MCP servers that are still connecting: `true` (10 s) or `{ timeout }` in ms. Default: false. */
  waitForMcpConnections: McpWait = false;

  /** What happens to a message that arrives while another is being answered. Default: `"queue"`. */
  messageConcurrency: MessageConcurrency = "queue";

  /** Stored messages that a woken agent holds in memory, in bytes; zero or less means all. Default: 24 MiB. */
  hydrationByteBudget: number = MESSAGE_LIMITS.hydrationBytes;

  /** Whether large files in old messages move to the workspace. Default: true. */
  mediaEviction: MediaEvictionSetting = true;

  /**
   * The agent's files. Default: a `Workspace` in the object's own SQLite, made on first use. Assign a field of this name for
   * another one, for example with an R2 bucket for large files.
   */
  declare workspace: WorkspaceLike;

  /** Whether the model has a `bash` tool on the workspace, and its limits. Default: true. */
  workspaceBash: boolean | BashLimits = true;

  /** What keeps executions of code. Set by `createExecuteTool(this)`; assign it yourself when you call `createExecuteRuntime`. */
  declare codemode?: ExecutionRuntime | undefined;

  /** Whether and how a turn that was interrupted by an eviction, a deployment or a stall is carried on. Set it as a field. Default: true. */
  chatRecovery: boolean | ChatRecoveryConfig = true;

  /** Longest silence of a model's stream, in ms, tools included; 0 is no limit. Default: 0. */
  chatStreamStallTimeoutMs = 0;

  /** What to do when a conversation outgrows the model's context window. Default: nothing. */
  contextOverflow: ContextOverflowConfig | undefined = undefined;

  static {
    markCallable(this.prototype, ["pendingExecutions", "approveExecution", "rejectExecution"]);
  }

  readonly #modules: Modules;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    installWorkspace(this, ctx.storage);
    const host = createAgentHost(this, ctx.storage);
    this.#modules = compose(host, {
      loop: this.#loopAgent(),
      onChatError: (error, context) => this.onChatError(error, context),
      onChatResponse: (response) => this.onChatResponse(toChatResponse(response)),
      messageConcurrency: () => this.messageConcurrency,
      hydrationByteBudget: () => this.hydrationByteBudget,
      mediaEviction: () => this.mediaEviction,
      configureSession: (session) => this.configureSession(session),
      executionRuntime: () => this.#executionRuntime(),
      attachments: () => attachmentFiles(this),
      childRuns: this._childRunAuthor(),
      recovery: {
        setting: () => this.chatRecovery,
        hook: (context) => this.onChatRecovery(context),
        stallTimeoutMs: () => this.chatStreamStallTimeoutMs
      },
      overflow: {
        setting: () => this.contextOverflow,
        compact: (reason) => this._compactHistory(reason),
        classify: () =>
          this.classifyChatError === Think.prototype.classifyChatError
            ? undefined
            : (error, context) => this.classifyChatError(error, context)
      }
    });
    installChat(this, this.#modules.handlers);
    installParentRuns(this, host);
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

  /** The tools the model may call besides those of the workspace; of two with one name this one counts. Default: none. */
  getTools(): ToolSet {
    return {};
  }

  /**
   * Adds context blocks, compaction and a cached prompt to the session. Called when the agent starts and when another session becomes
   * active; turns wait for it, so run none in it. Default: returns it as it is.
   */
  configureSession(session: Session): Session | Promise<Session> {
    return session;
  }

  /** Before the model is asked. Sees the assembled request; what it returns overrides it for this turn. */
  beforeTurn(_context: TurnContext): TurnConfig | void | Promise<TurnConfig | void> {}

  /** Before each model step. What it returns overrides the step. */
  beforeStep(_context: PrepareStepContext): StepConfig | void | Promise<StepConfig | void> {}

  /** Before a server tool runs. Nothing returned means: run it. A throw fails the tool call, not the turn. */
  beforeToolCall(_context: ToolCallContext): ToolCallDecision | void | Promise<ToolCallDecision | void> {}

  /** After a server tool ran, was blocked or was substituted. */
  afterToolCall(_context: ToolCallResultContext): void | Promise<void> {}

  /** After each model step. */
  onStepFinish(_context: StepContext): void | Promise<void> {}

  /** For each part of the model's stream, about once per token. The stream waits for it. */
  onChunk(_context: ChunkContext): void | Promise<void> {}

  /** After a turn has ended and its message is stored. Running further turns from here is safe. */
  onChatResponse(_result: ChatResponseResult): void | Promise<void> {}

  /**
   * A turn failed, once per failed turn. Return the error to tell (its message) in place of the original. Default: logs it and tells it
   * as it is.
   */
  onChatError(error: unknown, context?: ChatErrorContext): unknown {
    const stage = context?.stage ?? "unknown";
    // Whoever can open a socket can send what does not parse; it must not fill the log.
    if (stage !== "parse")
      console.error(`[Think] A turn of ${this.constructor.name} failed (${stage} stage):`, error);
    return error;
  }

  /** The active session: the tree of messages, context blocks, compaction, search. */
  get session(): Session {
    return this.#modules.session.current;
  }

  /** Before an interrupted turn is carried on. Decides whether its partial answer is kept and whether it goes on. Default: both. */
  onChatRecovery(
    _context: ChatRecoveryContext
  ): ChatRecoveryOptions | void | Promise<ChatRecoveryOptions | void> {
    return {};
  }

  /**
   * What kind of failure an error of the model is. Asked only while `contextOverflow.reactive` is on; `context_overflow` compacts the
   * history and runs the turn again. Default: says nothing. `defaultContextOverflowClassifier` knows the common providers.
   */
  classifyChatError(
    _error: unknown,
    _context?: { readonly stage: "stream"; readonly requestId: string }
  ): ChatErrorClassification | void {}

  /** Keeps a value that `onChatRecovery` gets as `recoveryData` when the running turn is interrupted. In a fiber: the fiber's own. */
  override stash(data: unknown): void {
    if (!isWithinTurn() || !this.#modules.stash(data)) super.stash(data);
  }

  override runFiber<Result>(name: string, work: (context: FiberContext) => Promise<Result>): Promise<Result> {
    return super.runFiber(name, (context) => outsideTurns(() => work(context)));
  }

  /** Called by a schedule: carries an interrupted turn on. @internal */
  async _chatRecoveryContinue(payload: unknown, schedule?: { readonly id: string }): Promise<void> {
    return this.#modules.recovery.attempt("continue", payload, schedule?.id);
  }

  /** Called by a schedule: asks the interrupted question again. @internal */
  async _chatRecoveryRetry(payload: unknown, schedule?: { readonly id: string }): Promise<void> {
    return this.#modules.recovery.attempt("retry", payload, schedule?.id);
  }

  /** Called by a schedule: looks for an interrupted turn again after that failed. @internal */
  async _chatRecoveryDetect(): Promise<void> {
    return this.#modules.recovery.detect();
  }

  /** The conversation in memory, oldest first. This is the live list: read it, do not change it. */
  get messages(): UIMessage[] {
    // Mutable only in its type, because the AI SDK's functions ask for that.
    return this.#modules.conversation.messages as UIMessage[];
  }

  /** A copy of the conversation, oldest first; changing it changes nothing here. */
  async getMessages(): Promise<UIMessage[]> {
    return this.messages.map((message) => ({ ...message, parts: [...message.parts] }));
  }

  /** Deletes the conversation, stops what is running and tells every client. */
  async clearMessages(): Promise<void> {
    this.#modules.clear([]);
  }

  /** Stores messages without a turn; known ids are ignored. With `parentId` they branch off that message. */
  async addMessages(
    messages: readonly UIMessage[],
    options: { readonly parentId?: string } = {}
  ): Promise<void> {
    this.#modules.api.addMessages(messages, options.parentId);
  }

  /** Runs a turn for a message and streams its events to a callback: chat over RPC. Resolves when the turn is over. */
  async chat(message: string | UIMessage, callback: StreamCallback, options?: ChatOptions): Promise<void> {
    return this.#modules.api.chat(message, callback, options);
  }

  /** Stops a turn; an id that is not running is no error. */
  async cancelChat(requestId: string, _reason?: string): Promise<void> {
    this.#modules.turns.cancel(requestId);
  }

  /** Stops every turn, running or waiting. */
  async cancelAllChats(): Promise<void> {
    this.#modules.turns.cancelAll();
  }

  /** Stores messages and runs a turn that answers them. Resolves when the turn is over. */
  async saveMessages(messages: MessagesInput, options?: SaveMessagesOptions): Promise<SaveMessagesResult> {
    return this.#modules.api.saveMessages(messages, options);
  }

  /** Runs a turn that carries on from the last answer. Skipped when the last message is not an answer. */
  protected async continueLastTurn(
    body?: Readonly<Record<string, unknown>>,
    options?: SaveMessagesOptions
  ): Promise<SaveMessagesResult> {
    return this.#modules.api.continueLastTurn(body, options);
  }

  /** Whether a person or a client still has to answer: an open approval, or a call of a tool that runs in the client. */
  protected hasPendingInteraction(): boolean {
    return this.#modules.clientTools.hasPendingInteraction();
  }

  /** Waits until no turn runs, none is about to, and nobody is being asked. False when `timeout` (ms; default: none) passes first. */
  protected async waitUntilStable(options?: { readonly timeout?: number }): Promise<boolean> {
    return this.#modules.clientTools.waitUntilStable(options);
  }

  /** Calls in code that wait for a person, with full arguments, newest execution first. Callable by clients. */
  async pendingExecutions(executionId?: string): Promise<PendingAction[]> {
    return this.#modules.executions.pending(executionId);
  }

  /** Runs the call that waits and the rest of the code; the outcome replaces the pause and the model goes on. Callable by clients. */
  async approveExecution(executionId: string): Promise<ExecutionOutcome> {
    return this.#modules.executions.approve(executionId, callingConnection());
  }

  /** Refuses the call that waits, which ends its execution. Callable by clients. */
  async rejectExecution(executionId: string, reason?: string): Promise<ExecutionOutcome> {
    return this.#modules.executions.reject(executionId, reason, callingConnection());
  }

  /** Stops one turn. */
  protected abortRequest(requestId: string, _reason?: string): void {
    this.#modules.turns.cancel(requestId);
  }

  /** Stops every turn, running or waiting. */
  protected abortAllRequests(): void {
    this.#modules.turns.cancelAll();
  }

  /** Ends every turn and forgets what waits; messages and streams stay. */
  protected resetTurnState(): void {
    this.#modules.resetTurns();
  }

  /** Stores a message without a turn and returns it as stored; a known id keeps its content. */
  protected async appendMessageToHistory(message: UIMessage, parentId?: string | null): Promise<UIMessage> {
    const options = parentId === undefined ? {} : { parentId };
    return this.#modules.conversation.append([message], options).messages[0] ?? message;
  }

  /** Replaces the content of a stored message and returns it as stored; an unknown id changes nothing. */
  protected async updateMessageInHistory(message: UIMessage): Promise<UIMessage> {
    return this.#modules.conversation.update(message) ?? message;
  }

  /** Reads the conversation anew from storage. */
  protected async syncMessagesFromStorage(): Promise<UIMessage[]> {
    return [...this.#modules.conversation.reload()];
  }

  /** What failed when the object woke; the agent came up without it. */
  getOnStartDegradations(): OnStartDegradation[] {
    return [...this.#modules.startSteps.degradations];
  }

  /** Stores private settings as JSON. Not sent to clients; use `setState` for that. */
  configure<Config = Record<string, unknown>>(config: Config): void {
    this.#modules.config.set(CONFIG, config);
  }

  /** The settings of the last `configure()`, or null. */
  getConfig<Config = Record<string, unknown>>(): Config | null {
    // What was stored is what the author stored; the type is theirs to keep.
    return this.#modules.config.get(CONFIG) as Config | null;
  }

  /** What an interrupted tool call becomes before the next turn. Default: an `output-error` that says so. */
  protected repairInterruptedToolPart(part: StoredToolPart): UIMessage["parts"][number] {
    return failInterruptedPart(part);
  }

  /** Shortens the stored history because of the model's context window, with the session's compaction function. */
  protected async _compactHistory(
    reason: "reactive" | "proactive"
  ): Promise<{ readonly shortened: boolean } | null> {
    return (await this.session.attemptCompaction(reason)).report;
  }

  /** Wraps the stream of every inference run; for tests. Default: unchanged. */
  protected _transformInferenceResult(result: StreamableResult): StreamableResult {
    return result;
  }

  #ownTools(): ToolSet {
    const scope = {
      ctx: this.ctx,
      adopt: (runtime: unknown) => void Object.assign(this, { codemode: runtime })
    };
    return withAgentScope(scope, () => this.getTools());
  }

  /** After a wake nobody has asked for the tools yet; asking makes the runtime. */
  #executionRuntime(): ExecutionRuntime | undefined {
    try {
      if (!this.codemode) this.#ownTools();
    } catch (error) {
      console.warn(`[Think] getTools() failed while looking for the runtime of executions:`, error);
    }
    return this.codemode;
  }

  /** @internal */
  [MODULES](): Modules {
    return this.#modules;
  }

  #loopAgent(): LoopAuthor {
    const defaults: AgentHooks = Think.prototype;
    return {
      model: () => this.getModel(),
      systemPrompt: () => this.getSystemPrompt(),
      tools: () => ({
        workspace: createWorkspaceTools(this.workspace, { bash: this.workspaceBash }),
        agent: this.#ownTools()
      }),
      maxSteps: () => this.maxSteps,
      sendReasoning: () => this.sendReasoning,
      waitForMcp: () => this.waitForMcpConnections,
      mcp: {
        hasServers: () => Object.keys(this.mcp.mcpConnections).length > 0,
        tools: () => this.mcp.getAITools({ state: "ready" }),
        wait: (timeout) => this.mcp.waitForConnections({ timeout })
      },
      hooks: () => overriddenHooks(this, defaults),
      observers: () => [],
      repairPart: (part) => this.repairInterruptedToolPart(part),
      transformResult: () =>
        this._transformInferenceResult === Think.prototype._transformInferenceResult
          ? undefined
          : (result) => this._transformInferenceResult(result)
    };
  }
}

/** The socket whose call is being answered, if it came through one. */
function callingConnection(): string | null {
  return getCurrentAgent().connection?.id ?? null;
}
