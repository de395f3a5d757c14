/**
 * Builds what an agent stores of its conversations: the tree, summaries, search and the sessions they belong to.
 */
import type { Host } from "./host/host";
import type { Emit } from "./observability/events";
import { AgentSession } from "./session/agent-session";
import type { CompactionReport } from "./session/compaction/compact-types";
import { createCompactionStore, type CompactionStore } from "./session/compaction/compaction-store";
import { createConversation, type Conversation } from "./session/conversation";
import { ContextArchive } from "./session/context-archive";
import { ConversationProvider } from "./session/conversation-provider";
import type { AttachmentFiles } from "./session/media-eviction";
import type { MediaEvictionSetting } from "./session/media-settings";
import { createMessageStore } from "./session/message-store";
import { SearchIndex } from "./session/search-index";
import type { Session } from "./session/session";
import { SessionArchive } from "./session/session-archive";
import { SessionStore } from "./session/session-store";
import { followEnds } from "./session/summaries";
import type { ActiveScope } from "./sessions/named-sessions";
import type { ConfigStore } from "./storage/config-store";

/** What the author of an agent decides about what is stored. */
export interface SessionOverrides {
  readonly hydrationByteBudget: () => number;
  readonly mediaEviction: () => MediaEvictionSetting;
  /** Where evicted media goes; undefined for an agent without a workspace. */
  readonly attachments: () => AttachmentFiles | undefined;
  readonly configureSession: (session: Session) => Session | Promise<Session>;
}

export interface SessionStores {
  /** The active session. */
  readonly scope: ActiveScope;
  readonly sessions: SessionStore;
  readonly conversation: Conversation;
  readonly compactions: CompactionStore;
  readonly search: SearchIndex;
  readonly archive: SessionArchive;
  readonly session: AgentSession;
}

/** What the stores of a conversation need from the platform. */
export type SessionHost = Pick<Host, "sql" | "clock" | "ids" | "emit" | "broadcast" | "hasConnections">;

export function composeSession(
  host: SessionHost,
  overrides: SessionOverrides,
  config: ConfigStore
): SessionStores {
  const { sql, clock, emit, ids } = host;
  const now = () => clock.now();
  const scope: ActiveScope = { id: "" };
  const sessions = new SessionStore(sql, now);
  const compactions = createCompactionStore(sql);
  const search = new SearchIndex(sql, scope);
  const conversation = createConversation({
    ...{ sql, config, emit, scope, sessions, store: createMessageStore({ sql, now, scope }) },
    summaries: () => compactions.list(scope.id),
    observers: [search, followEnds(compactions, scope)],
    rolledBack: () => search.forget(),
    branched: () => session.branched(),
    hydrationByteBudget: overrides.hydrationByteBudget,
    media: { clock, setting: overrides.mediaEviction, files: overrides.attachments }
  });
  const session: AgentSession = new AgentSession({
    configure: overrides.configureSession,
    source: () => ({
      ...{ sql, clock, ids, sessionId: scope.id, canChoose: false },
      open: () => ({
        compactions,
        provider: new ConversationProvider({ scope, conversation, compactions, search, ids, now }),
        changed: () => void conversation.reload()
      }),
      send: (frame) => host.broadcast(JSON.stringify(frame), []),
      watched: () => host.hasConnections(),
      report: (report) => reportCompaction(emit, report)
    })
  });
  const archive = new SessionArchive({
    ...{ sql, now, ids, config, sessions, compactions, files: overrides.attachments },
    context: new ContextArchive(sql, () => session.current.durableLabels)
  });
  return { scope, sessions, conversation, compactions, search, archive, session };
}

/** Those that a turn asks for are reported by the turn, which knows more. */
function reportCompaction(emit: Emit, report: CompactionReport): void {
  if (report.reason === "manual" || report.reason === "auto") emit("chat:context:compacted", report);
}
