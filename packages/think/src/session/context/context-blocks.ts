/**
 * The context blocks of one session: what `Session` delegates to. Owns the blocks, the frozen prompt, the model's tools and the
 * set of loaded skills; knows neither the database nor the tree of messages.
 */
import type { ToolSet } from "ai";
import type { Clock } from "../../shared/clock";
import { CONTEXT_LIMITS } from "../../shared/limits";
import { invalid, type ContextBlock, type ContextConfig, type ContextRegistration } from "./block";
import { BlockRegistry } from "./block-registry";
import { createContextTools, type ContextActions } from "./context-tools";
import { estimateStringTokens } from "../compaction/tokens";
import { FrozenPrompt, type PromptStore, type Rendering } from "./frozen-prompt";
import { LoadedSkills, type SkillHistory } from "./loaded-skills";
import { isSearchProvider, isSkillProvider, type WritableContextProvider } from "./provider";
import { renderBlocks } from "./render";
import { skillId } from "./skill-results";

export interface ContextBlocksOptions {
  /** In the order of registration, which is the order in the prompt. */
  readonly blocks: readonly ContextRegistration[];
  /** Keeps the prompt across restarts. Default: it is frozen in memory only. */
  readonly promptStore?: PromptStore | undefined;
  /** The durable block for a label without a provider. Default: such a label is refused. */
  readonly defaultProvider?: ((label: string) => WritableContextProvider | undefined) | undefined;
  /** Default: an estimate by characters and words. */
  readonly countTokens?: ((text: string) => number) | undefined;
  readonly history: SkillHistory;
  /** Bounds the time that a provider may take. Default: no bound. */
  readonly clock?: Clock | undefined;
}

export class ContextBlocks implements ContextActions {
  readonly #registry: BlockRegistry;
  readonly #prompt: FrozenPrompt;
  readonly #skills: LoadedSkills;

  constructor(options: ContextBlocksOptions) {
    this.#registry = new BlockRegistry({
      defaultProvider: options.defaultProvider ?? (() => undefined),
      countTokens: options.countTokens ?? estimateStringTokens,
      clock: options.clock
    });
    for (const registration of options.blocks) this.#registry.add(registration);
    this.#skills = new LoadedSkills(options.history);
    this.#prompt = new FrozenPrompt({
      store: options.promptStore,
      render: async () => {
        await this.load();
        return this.#render();
      },
      renderAnew: async () => {
        await Promise.all(this.#registry.entries.map((entry) => entry.reload()));
        return this.#render();
      }
    });
  }

  /** Reads every block that has not been read; a provider that fails leaves its block empty and is tried again next time. */
  async load(): Promise<void> {
    await Promise.all(
      this.#registry.entries.filter((entry) => !entry.isCurrent).map((entry) => entry.load())
    );
  }

  /** All blocks in their order; empty ones until `load()`. */
  getContextBlocks(): ContextBlock[] {
    return this.#registry.entries.map(({ block }) => block);
  }

  /** Labels of the blocks without a provider of their own. */
  get durableLabels(): string[] {
    return this.#registry.entries.flatMap(({ label, isDurable }) => (isDurable ? [label] : []));
  }

  /** A block by its label; null when there is none. */
  getContextBlock(label: string): ContextBlock | null {
    return this.#registry.find(label)?.block ?? null;
  }

  replaceContextBlock(label: string, content: string): Promise<ContextBlock> {
    return settled(() => this.#registry.replace(label, content));
  }

  appendContextBlock(label: string, text: string): Promise<ContextBlock> {
    return settled(() => this.#registry.append(label, text));
  }

  /** Stores a text under a key of a skill or searchable block. */
  setContextEntry(label: string, key: string, content: string, description?: string): Promise<ContextBlock> {
    return settled(() => this.#registry.setEntry(label, key, content, description));
  }

  /** Registers a block and reads it. The prompt changes with the next `refreshSystemPrompt()`. */
  async addContext(label: string, config: ContextConfig = {}): Promise<ContextBlock> {
    const entry = this.#registry.add({ label, config });
    await entry.load();
    return entry.block;
  }

  /** Forgets a block, not its stored content. The prompt changes with the next `refreshSystemPrompt()`. */
  removeContext(label: string): boolean {
    this.#skills.forget(label);
    return this.#registry.remove(label);
  }

  /** The prompt that stays the same until it is refreshed. */
  freezeSystemPrompt(): Promise<string> {
    return this.#prompt.freeze();
  }

  /** Reads all blocks anew and freezes what they give. */
  refreshSystemPrompt(): Promise<string> {
    return this.#prompt.refresh();
  }

  /** The prompt for an estimate; keeps nothing. */
  peekSystemPrompt(): Promise<string> {
    return this.#prompt.peek();
  }

  /** The model's tools for the blocks there are. Call it between turns, or at the start of one. */
  async tools(): Promise<ToolSet> {
    await this.load();
    if (this.#hasSkills()) this.#skills.settle();
    return createContextTools(this.getContextBlocks(), this);
  }

  /** The text under a key; null when there is none. Counts as loaded from then on. */
  async loadSkill(label: string, key: string): Promise<string | null> {
    const entry = this.#registry.require(label);
    const { provider } = entry;
    if (!isSkillProvider(provider)) throw invalid(`Context block "${label}" has nothing to load.`);
    if (key === "" || key.length > CONTEXT_LIMITS.keyChars) return null;
    const text = await entry.call(`load "${key}"`, () => provider.load(key));
    if (typeof text !== "string") return null;
    this.#skills.loaded(label, key);
    return text;
  }

  /** Takes a loaded text out of the history; false when it is not loaded. */
  unloadSkill(label: string, key: string): boolean {
    return this.#isSkill(label) && this.#skills.unload(label, key);
  }

  /** Loaded skills as `label:key`, oldest first. */
  getLoadedSkillKeys(): Set<string> {
    if (!this.#hasSkills()) return new Set();
    return new Set(
      this.#skills.list((label) => this.#isSkill(label)).map(({ label, key }) => skillId(label, key))
    );
  }

  /** What is loaded is looked for anew: call it when the history was cleared or is another one. */
  resetLoadedSkills(): void {
    this.#skills.reset();
  }

  async searchContext(label: string, query: string): Promise<string | null> {
    const entry = this.#registry.require(label);
    const { provider } = entry;
    if (!isSearchProvider(provider)) throw invalid(`Context block "${label}" cannot be searched.`);
    return entry.call("be searched", () => provider.search(query.slice(0, CONTEXT_LIMITS.searchQueryChars)));
  }

  #isSkill(label: string): boolean {
    return this.#registry.find(label)?.block.isSkill ?? false;
  }

  /** The history is read only for those who have skills. */
  #hasSkills(): boolean {
    return this.#registry.entries.some(({ provider }) => isSkillProvider(provider));
  }

  #render(): Rendering {
    return {
      text: renderBlocks(this.getContextBlocks()),
      complete: this.#registry.entries.every(({ isKnown }) => isKnown)
    };
  }
}

/** A mistake in the call is a rejection like any other failure. */
async function settled<Result>(work: () => Promise<Result>): Promise<Result> {
  return work();
}
