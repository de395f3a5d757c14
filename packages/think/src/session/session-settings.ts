/** What the chain of a session has been told, before anything of it is used. */
import { ThinkError } from "../shared/errors/think-error";
import type { CompactFunction, TokenCounter } from "./compaction/compact-types";
import type { ContextConfig, ContextRegistration } from "./context/block";
import type { PromptStore } from "./context/frozen-prompt";

export interface SessionSettings {
  sessionId: string | undefined;
  readonly blocks: ContextRegistration[];
  /** True: in the database of the host. */
  cachedPrompt: PromptStore | boolean;
  compactFunction: CompactFunction | undefined;
  threshold: number | undefined;
  tokenCounter: TokenCounter | undefined;
  onCompactionError: ((error: unknown) => void) | undefined;
}

/** Settings of `new Session(provider, options)`. */
export interface SessionOptions {
  readonly context?: readonly ({ readonly label: string } & ContextConfig)[];
  /** Keeps the prompt across restarts. Default: it is frozen in memory. */
  readonly promptStore?: PromptStore;
  readonly tokenCounter?: TokenCounter;
  readonly onCompactionError?: (error: unknown) => void;
}

export function settingsOf(options: SessionOptions): SessionSettings {
  return {
    sessionId: undefined,
    blocks: (options.context ?? []).map(({ label, ...config }) => ({ label, config })),
    cachedPrompt: options.promptStore ?? false,
    compactFunction: undefined,
    threshold: undefined,
    tokenCounter: options.tokenCounter,
    onCompactionError: options.onCompactionError
  };
}

export function checkThreshold(tokens: number): number {
  if (Number.isFinite(tokens) && tokens > 0) return tokens;
  throw new ThinkError(`compactAfter(${tokens}) needs a positive number of tokens.`, {
    code: "invalid-session"
  });
}
