/**
 * The blocks of a session in the order of their registration, and the rules for changing them. Called by `ContextBlocks`.
 */
import type { Clock } from "../../shared/clock";
import { ThinkError } from "../../shared/errors/think-error";
import { CONTEXT_LIMITS } from "../../shared/limits";
import { checkRegistration, invalid, type ContextBlock, type ContextRegistration } from "./block";
import { BlockEntry } from "./block-entry";
import { isKeyedProvider, isWritableProvider, type WritableContextProvider } from "./provider";

export interface BlockRegistryOptions {
  /** The durable block for a label without a provider; undefined when there is no database. */
  readonly defaultProvider: (label: string) => WritableContextProvider | undefined;
  readonly countTokens: (text: string) => number;
  readonly clock?: Clock | undefined;
}

export class BlockRegistry {
  readonly #options: BlockRegistryOptions;
  readonly #entries = new Map<string, BlockEntry>();

  constructor(options: BlockRegistryOptions) {
    this.#options = options;
  }

  get entries(): readonly BlockEntry[] {
    return [...this.#entries.values()];
  }

  find(label: string): BlockEntry | undefined {
    return this.#entries.get(label);
  }

  /** Throws for a label that is taken, malformed, one too many, or without a place for its content. */
  add(registration: ContextRegistration): BlockEntry {
    checkRegistration(registration);
    const { label, config } = registration;
    if (this.#entries.has(label)) {
      throw invalid(`There is a context block "${label}" already; remove it first or choose another label.`);
    }
    if (this.#entries.size >= CONTEXT_LIMITS.blocks) {
      throw invalid(`A session has ${CONTEXT_LIMITS.blocks} context blocks at most.`);
    }
    const provider = config.provider ?? this.#options.defaultProvider(label);
    if (!provider) {
      throw invalid(
        `Context block "${label}" needs a provider, because this session has no database of its own.`
      );
    }
    const entry = new BlockEntry({ ...this.#options, label, config, provider });
    this.#entries.set(label, entry);
    return entry;
  }

  remove(label: string): boolean {
    return this.#entries.delete(label);
  }

  require(label: string): BlockEntry {
    const entry = this.#entries.get(label);
    if (entry) return entry;
    const labels = [...this.#entries.keys()].map((known) => `"${known}"`).join(", ");
    throw new ThinkError(`There is no context block "${label}". Blocks: ${labels || "none"}.`, {
      code: "context-unknown"
    });
  }

  /** Replaces the content of a writable block. */
  replace(label: string, content: string): Promise<ContextBlock> {
    const entry = this.require(label);
    return entry.inTurn(() => this.#write(entry, content));
  }

  /** Adds to a writable block, on a new line. Reads it first: content that could not be read would be lost. */
  append(label: string, text: string): Promise<ContextBlock> {
    const entry = this.require(label);
    return entry.inTurn(async () => {
      writableOf(entry);
      await entry.read();
      const { content } = entry.block;
      const separator = content === "" || text.startsWith("\n") ? "" : "\n";
      return this.#write(entry, `${content}${separator}${text}`);
    });
  }

  /** Stores a text under a key of a skill or searchable block and reads its listing anew. */
  setEntry(label: string, key: string, content: string, description?: string): Promise<ContextBlock> {
    const entry = this.require(label);
    return entry.inTurn(async () => {
      const { provider } = entry;
      if (!isKeyedProvider(provider)) throw invalid(`Context block "${label}" is one text; it has no keys.`);
      if (!provider.set) throw readonly(label);
      if (key === "" || key.length > CONTEXT_LIMITS.keyChars) {
        throw invalid(`A key must have 1 to ${CONTEXT_LIMITS.keyChars} characters.`);
      }
      checkSize(label, content);
      await entry.call("be written", () => provider.set?.(key, content, description));
      await entry.reload();
      return entry.block;
    });
  }

  async #write(entry: BlockEntry, content: string): Promise<ContextBlock> {
    const provider = writableOf(entry);
    checkSize(entry.label, content);
    const { maxTokens } = entry.block;
    const tokens = entry.tokensOf(content);
    if (maxTokens && tokens > maxTokens) {
      throw new ThinkError(
        `The content of context block "${entry.label}" exceeds maxTokens: ${tokens} of ${maxTokens}. Shorten it.`,
        { code: "context-too-large" }
      );
    }
    await entry.call("be written", () => provider.set(content));
    entry.written(content);
    return entry.block;
  }
}

function writableOf({ label, provider }: BlockEntry): WritableContextProvider {
  if (isWritableProvider(provider)) return provider;
  if (!isKeyedProvider(provider)) throw readonly(label);
  throw invalid(`Context block "${label}" keeps its texts under keys; write one with a key.`);
}

function readonly(label: string): ThinkError {
  return new ThinkError(`Context block "${label}" is readonly: its provider has no set().`, {
    code: "context-readonly"
  });
}

function checkSize(label: string, content: string): void {
  if (content.length <= CONTEXT_LIMITS.contentChars) return;
  throw new ThinkError(
    `Context block "${label}" takes ${CONTEXT_LIMITS.contentChars} characters at once, not ${content.length}.`,
    { code: "context-too-large" }
  );
}
