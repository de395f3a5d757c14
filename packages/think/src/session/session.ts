/**
 * A conversation with everything around it: the tree of messages, context blocks and their prompt, compaction, search. Agents hand one
 * to `configureSession`; it can also stand alone on any object with an `sql` tag.
 *
 * The chain only notes settings. What they mean is settled at the first use, so the order of the chain does not matter.
 */
import type { ToolSet, UIMessage } from "ai";
import { ThinkError } from "../shared/errors/think-error";
import { SESSION_LIMITS } from "../shared/limits";
import type {
  CompactFunction,
  CompactionReason,
  CompactResult,
  TokenCounter
} from "./compaction/compact-types";
import type { CompactionOutcome } from "./compaction/compactor";
import type { StoredCompaction } from "./compaction/overlay";
import type { ContextBlock, ContextConfig } from "./context/block";
import type { PromptStore } from "./context/frozen-prompt";
import { utf8Bytes } from "./row-limit";
import type { SearchResult } from "./search-index";
import { checkMessage } from "./session-rules";
import { buildSession, type SessionParts } from "./session-parts";
import {
  appendAll,
  type HistoryRowStats,
  type RecentHistory,
  type SessionProvider
} from "./session-provider";
import { checkThreshold, settingsOf, type SessionOptions, type SessionSettings } from "./session-settings";
import { isSource, sourceOf, type SessionHost, type SessionSource } from "./session-source";

export class Session {
  readonly #source: SessionSource;
  readonly #settings: SessionSettings;
  #parts: SessionParts | undefined;
  #warned = false;
  #isReminded = false;

  /** On storage of one's own. `Session.create(agent)` stores in the agent's database. */
  constructor(provider: SessionProvider, options?: SessionOptions);
  /** @internal */
  constructor(source: SessionSource);
  constructor(storage: SessionProvider | SessionSource, options: SessionOptions = {}) {
    this.#source = isSource(storage) ? storage : sourceOf(storage);
    this.#settings = settingsOf(options);
  }

  /** A session in the database of an agent (or anything with its `sql` tag), or on a provider. */
  static create(host: SessionHost | SessionProvider): Session {
    return new Session(sourceOf(host));
  }

  /** Chooses one of several sessions in the same database. Not for an agent's own session: use `switchSession()` there. */
  forSession(sessionId: string): this {
    if (!this.#source.canChoose)
      throw new ThinkError("This session cannot be exchanged. In an agent, use switchSession().", {
        code: "invalid-session"
      });
    if (sessionId.length > SESSION_LIMITS.idChars)
      throw new ThinkError(`A session id has at most ${SESSION_LIMITS.idChars} characters.`, {
        code: "invalid-session"
      });
    return this.#set({ sessionId });
  }

  /** Adds a block to the system prompt. Without a provider: a durable block that the model can write. */
  withContext(label: string, options: ContextConfig = {}): this {
    this.#refuseLate();
    this.#settings.blocks.push({ label, config: options });
    return this;
  }

  /** Keeps the prompt across restarts: in the agent's database, or in a store of one's own. */
  withCachedPrompt(store: PromptStore | true = true): this {
    return this.#set({ cachedPrompt: store });
  }

  /** Registers what shortens the conversation, for example `createCompactFunction({ summarize })`. */
  onCompaction(compactFunction: CompactFunction): this {
    return this.#set({ compactFunction });
  }

  /** Compacts by itself when messages and prompt are estimated at more than so many tokens. Default: never. */
  compactAfter(tokens: number, options: { readonly tokenCounter?: TokenCounter } = {}): this {
    const { tokenCounter } = options;
    return this.#set({ threshold: checkThreshold(tokens), ...(tokenCounter ? { tokenCounter } : {}) });
  }

  /** Told when a compaction fails; the conversation goes on in any case. Default: a warning in the log. */
  onCompactionError(handler: (error: unknown) => void): this {
    return this.#set({ onCompactionError: handler });
  }

  /** Labels of the blocks that this session stores itself, those that were added later included. @internal */
  get durableLabels(): string[] {
    const chain = this.#settings.blocks.flatMap(({ label, config }) => (config.provider ? [] : [label]));
    return [...new Set([...chain, ...(this.#parts?.context.durableLabels ?? [])])];
  }

  /**
   * Stores a new message: below the latest leaf, below `parentId`, or with `null` as a new root. A known id keeps its content. May
   * compact afterwards.
   */
  async appendMessage(message: UIMessage, parentId?: string | null): Promise<void> {
    await this.appendMessages([message], parentId);
  }

  /** The same for several, each below the one before it: one transaction, and one look at the length afterwards. */
  async appendMessages(messages: readonly UIMessage[], parentId?: string | null): Promise<void> {
    for (const message of messages) checkMessage(message);
    const { provider, compactor } = this.#use();
    if (appendAll(provider, messages, parentId) > 0) await compactor.afterAppend();
  }

  /** Replaces the content of a stored message; an unknown id changes nothing. */
  async updateMessage(message: UIMessage): Promise<void> {
    checkMessage(message);
    const { provider, compactor } = this.#use();
    provider.updateMessage(message);
    await compactor.announce();
  }

  /** Deletes messages; what followed them follows what they followed. */
  async deleteMessages(ids: readonly string[]): Promise<void> {
    const { provider, compactor } = this.#use();
    provider.deleteMessages(ids);
    await compactor.announce();
  }

  /** Deletes the whole conversation. Context blocks stay; the prompt is read anew. */
  async clearMessages(): Promise<void> {
    const { provider, context, compactor } = this.#use();
    provider.clearMessages();
    context.resetLoadedSkills();
    await context.refreshSystemPrompt();
    await compactor.announce();
  }

  /** The path to a leaf (default: the active one), oldest first, with summaries in place of what they stand for. */
  getHistory(leafId?: string | null): UIMessage[] {
    return this.#use().provider.getHistory(leafId);
  }

  getMessage(id: string): UIMessage | null {
    return this.#use().provider.getMessage(id);
  }

  /** The last message of the active path. */
  getLatestLeaf(): UIMessage | null {
    return this.#use().provider.getLatestLeaf();
  }

  /** What was said next, in each branch, oldest first. */
  getBranches(messageId: string): UIMessage[] {
    return this.#use().provider.getBranches(messageId);
  }

  /** Messages on a path, those behind summaries included. */
  getPathLength(leafId?: string | null): number {
    return this.#use().provider.getPathLength(leafId);
  }

  /** The newest messages that fit into a number of bytes, but at least `minRecent`. */
  getRecentHistory(maxBytes: number, minRecent = 1): RecentHistory {
    const { provider } = this.#use();
    if (provider.getRecentHistory) return provider.getRecentHistory(maxBytes, minRecent);
    if (!this.#warned)
      console.warn("[Think] This session provider has no getRecentHistory(): the whole history is read.");
    this.#warned = true;
    const messages = provider.getHistory();
    const bytes = messages.reduce((sum, message) => sum + utf8Bytes(JSON.stringify(message)), 0);
    return { messages, truncated: false, totalContentBytes: bytes };
  }

  /** Sizes of the stored messages of the active path, oldest first; null when the provider does not know them. */
  getHistoryRowStats(): HistoryRowStats[] | null {
    return this.#use().provider.getHistoryRowStats?.() ?? null;
  }

  /** Messages in which every word occurs, best first. */
  search(query: string, options: { readonly limit?: number } = {}): SearchResult[] {
    const { provider } = this.#use();
    if (!provider.searchMessages)
      throw new ThinkError("This session provider has no searchMessages(): it cannot search.", {
        code: "invalid-session"
      });
    return provider.searchMessages(query, options.limit ?? SESSION_LIMITS.searchDefault);
  }

  /** Shortens the conversation now. Null when there was nothing to do, or when it failed, which is told otherwise. */
  async compact(): Promise<CompactResult | null> {
    return this.#use().compactor.compact();
  }

  /** Like `compact`, and tells how much it helped. */
  async attemptCompaction(reason: CompactionReason): Promise<CompactionOutcome> {
    return this.#use().compactor.attempt(reason);
  }

  /** Compacts when the conversation has become too long. Never throws. */
  async compactIfNeeded(): Promise<void> {
    const { compactFunction, threshold } = this.#settings;
    if (threshold === undefined) return;
    if (compactFunction) await this.#use().compactor.afterAppend();
    else if (!this.#isReminded)
      console.warn(
        "[Think] compactAfter() does nothing without a function: call session.onCompaction(…) too."
      );
    this.#isReminded = true;
  }

  /** Whether a compaction function is registered. */
  get canCompact(): boolean {
    return this.#settings.compactFunction !== undefined;
  }

  getCompactions(): readonly StoredCompaction[] {
    return this.#use().provider.getCompactions();
  }

  /** Undoes a compaction: the messages it stood for are seen again. False when there is none. */
  async deleteCompaction(id: string): Promise<boolean> {
    return this.#use().compactor.undo(id);
  }

  /** Tokens of messages and prompt, estimated. */
  async estimateTokens(): Promise<number> {
    return this.#use().compactor.estimate();
  }

  getContextBlocks(): ContextBlock[] {
    return this.#use().context.getContextBlocks();
  }

  getContextBlock(label: string): ContextBlock | null {
    return this.#use().context.getContextBlock(label);
  }

  async replaceContextBlock(label: string, content: string): Promise<ContextBlock> {
    return this.#use().context.replaceContextBlock(label, content);
  }

  /** Adds a line to a writable block. */
  async appendContextBlock(label: string, text: string): Promise<ContextBlock> {
    return this.#use().context.appendContextBlock(label, text);
  }

  /** Adds a block and loads it. The prompt changes with `refreshSystemPrompt()`. */
  async addContext(label: string, options: ContextConfig = {}): Promise<ContextBlock> {
    return this.#use().context.addContext(label, options);
  }

  /** Takes a block away, not what it stored. The prompt changes with `refreshSystemPrompt()`. */
  removeContext(label: string): boolean {
    return this.#use().context.removeContext(label);
  }

  /** The system prompt, the same until it is refreshed. */
  async freezeSystemPrompt(): Promise<string> {
    return this.#use().context.freezeSystemPrompt();
  }

  /** Reads every block anew and makes a new prompt of them. */
  async refreshSystemPrompt(): Promise<string> {
    return this.#use().context.refreshSystemPrompt();
  }

  /** The model's tools for the blocks there are. */
  async tools(): Promise<ToolSet> {
    return this.#use().context.tools();
  }

  /** Takes a loaded text out of the conversation; false when it is not loaded. */
  unloadSkill(label: string, key: string): boolean {
    return this.#use().context.unloadSkill(label, key);
  }

  /** Loaded texts as `label:key`. */
  getLoadedSkillKeys(): Set<string> {
    return this.#use().context.getLoadedSkillKeys();
  }

  /** The history was changed by other means: what is loaded is looked for in it anew. */
  forgetLoadedSkills(): void {
    this.#parts?.context.resetLoadedSkills();
  }

  #use(): SessionParts {
    this.#parts ??= buildSession(this.#source, this.#settings);
    return this.#parts;
  }

  #set(settings: Partial<SessionSettings>): this {
    this.#refuseLate();
    Object.assign(this.#settings, settings);
    return this;
  }

  #refuseLate(): void {
    if (!this.#parts) return;
    throw new ThinkError(
      "This session is in use and can no longer be configured. Configure it in configureSession(), or use addContext().",
      { code: "invalid-session" }
    );
  }
}
