/**
 * Where the content of a context block comes from. Users implement these interfaces; what a provider can do is seen from the
 * methods it has, so a plain object is enough.
 */

/** Now or later. */
export type Awaitable<Value> = Value | Promise<Value>;

/** A read-only block. */
export interface ContextProvider {
  /** Called once with the block's label, before the first `get`. */
  init?(label: string): Awaitable<void>;
  /** The content for the prompt; null when there is none. */
  get(): Awaitable<string | null>;
}

/** A block that the model may write as a whole. */
export interface WritableContextProvider extends ContextProvider {
  set(content: string): Awaitable<void>;
}

/** A block of which the prompt has only a listing; the model loads what it needs. */
export interface SkillProvider extends ContextProvider {
  /** The text under a key of the listing; null when there is none. */
  load(key: string): Awaitable<string | null>;
  /** Stores a text under a key; without it the model can only load. */
  set?(key: string, content: string, description?: string): Awaitable<void>;
}

/** A block that the model searches. */
export interface SearchProvider extends ContextProvider {
  /** What was found, as text for the model; null when nothing was. */
  search(query: string): Awaitable<string | null>;
  /** Indexes a text under a key; without it the model can only search. */
  set?(key: string, content: string): Awaitable<void>;
}

export type AnyContextProvider = ContextProvider | WritableContextProvider | SkillProvider | SearchProvider;

/** Anything that may have each of the methods. */
type Methods = { readonly [Name in "load" | "search" | "set"]?: unknown };

const has = (provider: AnyContextProvider, method: keyof Methods) =>
  typeof (provider as Methods)[method] === "function";

export function isSkillProvider(provider: AnyContextProvider): provider is SkillProvider {
  return has(provider, "load");
}

export function isSearchProvider(provider: AnyContextProvider): provider is SearchProvider {
  return has(provider, "search");
}

/** Whether `set` takes a key: a block of many texts. */
export function isKeyedProvider(provider: AnyContextProvider): provider is SkillProvider | SearchProvider {
  return isSkillProvider(provider) || isSearchProvider(provider);
}

export function isWritableProvider(provider: AnyContextProvider): provider is WritableContextProvider {
  return has(provider, "set") && !isKeyedProvider(provider);
}

export function canSet(provider: AnyContextProvider): boolean {
  return has(provider, "set");
}
