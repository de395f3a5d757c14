/** Builds what a `Session` delegates to, from its source and its settings, when it is first used. */
import type { UIMessage } from "ai";
import { Compactor } from "./compaction/compactor";
import { AgentContextProvider } from "./context/agent-context-provider";
import { PROMPT_LABEL } from "./context/block";
import { ContextBlocks } from "./context/context-blocks";
import type { PromptStore } from "./context/frozen-prompt";
import type { SessionProvider } from "./session-provider";
import type { SessionSettings } from "./session-settings";
import type { SessionSource } from "./session-source";

export interface SessionParts {
  readonly sessionId: string;
  readonly provider: SessionProvider;
  readonly context: ContextBlocks;
  readonly compactor: Compactor;
}

/** Key under which a block of a session is stored; the primary session's blocks have no suffix. */
export function contextKey(label: string, sessionId: string): string {
  return sessionId === "" ? label : `${label}_${sessionId}`;
}

/** Key of the frozen prompt. */
export function promptKey(sessionId: string): string {
  return contextKey(PROMPT_LABEL, sessionId);
}

export function buildSession(source: SessionSource, settings: SessionSettings): SessionParts {
  const sessionId = settings.sessionId ?? source.sessionId;
  const { provider, compactions, changed } = source.open(sessionId);
  const { sql, clock, ids } = source;
  // What the model sees is what is in memory: what lies before it is neither loaded nor worth compacting.
  const visible = (): readonly UIMessage[] => provider.getLoadedHistory?.() ?? provider.getHistory();
  const context = new ContextBlocks({
    ...{ blocks: settings.blocks, clock },
    promptStore: promptStoreOf(source, settings, sessionId),
    defaultProvider: (label) => sql && new AgentContextProvider(sql, contextKey(label, sessionId)),
    history: {
      loadResults: () => visible().filter(({ role }) => role === "assistant"),
      rewrite: (message) => provider.updateMessage(message)
    }
  });
  const compactor = new Compactor({
    ...{ sessionId, clock, ids, store: compactions, changed },
    history: visible,
    compactFunction: () => settings.compactFunction,
    threshold: () => settings.threshold,
    tokenCounter: () => settings.tokenCounter,
    systemPrompt: () => context.peekSystemPrompt(),
    contextBlocks: async () => {
      await context.load();
      return context.getContextBlocks();
    },
    refreshPrompt: async () => void (await context.refreshSystemPrompt()),
    status: (frame) => source.send?.(frame),
    report: (report) => source.report?.(report),
    onError: () => settings.onCompactionError,
    watched: () => source.watched()
  });
  return { sessionId, provider, context, compactor };
}

function promptStoreOf(
  { sql }: SessionSource,
  { cachedPrompt }: SessionSettings,
  sessionId: string
): PromptStore | undefined {
  if (typeof cachedPrompt === "object") return cachedPrompt;
  return cachedPrompt && sql ? new AgentContextProvider(sql, promptKey(sessionId)) : undefined;
}
