/**
 * `@cloudflare/think/session`: conversations with context blocks, compaction and search, on any object with an `sql` tag. Needs no agent.
 * Takes the place of `agents/experimental/memory/session` and `agents/experimental/memory/utils/compaction-helpers`.
 */
export { Session } from "./session";
export { SessionManager, type CreateSessionOptions } from "./session-manager";
export type { SessionInfo } from "./session-store";
export type { SessionOptions } from "./session-settings";
export type { SessionHost } from "./session-source";
export type { HistoryRowStats, RecentHistory, SessionProvider } from "./session-provider";
export type { SearchResult } from "./search-index";
export type { SqlHost } from "../storage/host-sql";

export { AgentContextProvider } from "./context/agent-context-provider";
export { AgentSearchProvider } from "./context/agent-search-provider";
export { R2SkillProvider, type R2SkillOptions, type SkillBucket } from "./context/r2-skill-provider";
export type { ContextBlock, ContextConfig } from "./context/block";
export type { PromptStore } from "./context/frozen-prompt";
export type {
  AnyContextProvider,
  Awaitable,
  ContextProvider,
  SearchProvider,
  SkillProvider,
  WritableContextProvider
} from "./context/provider";

export {
  createCompactFunction,
  type CreateCompactFunctionOptions
} from "./compaction/create-compact-function";
export {
  alignBoundaryBackward,
  alignBoundaryForward,
  COMPACTION_PREFIX,
  findTailCutByTokens,
  isCompactionMessage,
  sanitizeToolPairs
} from "./compaction/boundaries";
export {
  buildSummaryPrompt,
  computeSummaryBudget,
  type SummaryPromptOptions
} from "./compaction/summary-prompt";
export { applyOverlays, type StoredCompaction } from "./compaction/overlay";
export { estimateMessagesTokens, estimateMessageTokens, estimateStringTokens } from "./compaction/tokens";
export type {
  CompactContext,
  CompactFunction,
  CompactionReason,
  CompactionReport,
  CompactResult,
  CountedBlock,
  TokenCounter,
  TokenCounterInput
} from "./compaction/compact-types";
export type { CompactionOutcome } from "./compaction/compactor";
export { truncateOlderMessages, type TruncateOptions } from "./truncate-messages";
