/**
 * What a `Session` is made from: storage, and the ways to tell others. An agent provides it for its own session; for anybody else it is
 * made from an object with an `sql` tag, or from a provider of their own.
 */
import type { SessionErrorFrame, SessionStatusFrame } from "../protocol/frames";
import type { Clock, Ids } from "../shared/clock";
import { ThinkError } from "../shared/errors/think-error";
import { systemClock, systemIds } from "../shared/system";
import { createConfigStore } from "../storage/config-store";
import { hostSql, isSqlHost, type SqlHost } from "../storage/host-sql";
import type { Sql } from "../storage/sql";
import type { CompactionReport } from "./compaction/compact-types";
import { createCompactionStore, type CompactionStore } from "./compaction/compaction-store";
import { createConversation } from "./conversation";
import { ConversationProvider } from "./conversation-provider";
import { createMessageStore } from "./message-store";
import { SearchIndex, type IndexedSessions } from "./search-index";
import type { SessionProvider } from "./session-provider";
import { SessionStore } from "./session-store";
import { followEnds } from "./summaries";

/** The storage of one session. */
export interface OpenedSession {
  readonly provider: SessionProvider;
  readonly compactions: CompactionStore;
  /** Overlays have changed: what was read of the history is out of date. */
  changed(): void;
}

export interface SessionSource {
  /** Empty names the primary session. */
  open(sessionId: string): OpenedSession;
  /** The session that is meant unless `forSession` says otherwise. */
  readonly sessionId: string;
  /** Whether `forSession` may choose another one. */
  readonly canChoose: boolean;
  /** Where blocks without a provider live. Undefined: they are refused. */
  readonly sql: Sql | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Sends a frame to clients. Default: there are none. */
  send?(frame: SessionStatusFrame | SessionErrorFrame): void;
  /** Whether anybody receives frames. */
  watched(): boolean;
  report?(report: CompactionReport): void;
}

/** An object whose database holds sessions; with `broadcast`, clients learn of their state. */
export type SessionHost = SqlHost & { broadcast?(frame: string): void };

/** Hosts and providers come from code that may have no type checker. */
export function sourceOf(host: SessionHost | SessionProvider): SessionSource {
  if (isSqlHost(host)) return hostSource(host);
  const isProvider = typeof host === "object" && host !== null && typeof host.getHistory === "function";
  if (isProvider) return providerSource(host);
  throw new ThinkError(
    "A session needs storage: an agent, an object with an agent's sql tag, or a SessionProvider.",
    { code: "invalid-session" }
  );
}

export function isSource(value: SessionProvider | SessionSource): value is SessionSource {
  return typeof value === "object" && value !== null && "canChoose" in value;
}

function hostSource(host: SessionHost): SessionSource {
  const sql = hostSql(host);
  const [clock, ids] = [systemClock, systemIds];
  const canSend = typeof host.broadcast === "function";
  return {
    ...{ sql, clock, ids, sessionId: "", canChoose: true },
    open: (sessionId) => openStored({ sql, clock, ids }, sessionId),
    watched: () => canSend,
    send: (frame) => host.broadcast?.(JSON.stringify(frame))
  };
}

export interface StoredSessionOptions {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Shared by the sessions of one database. Default: the session is the only one that searches. */
  readonly indexed?: IndexedSessions;
}

/** A session in a database, with a memory of its own. */
export function openStored(
  { sql, clock, ids, indexed }: StoredSessionOptions,
  sessionId: string
): OpenedSession {
  const now = () => clock.now();
  const scope = { id: sessionId };
  const sessions = new SessionStore(sql, now);
  // Refuses a session of a newer release before anything of it is read or changed.
  sessions.pointer(sessionId);
  const compactions = createCompactionStore(sql);
  const search = new SearchIndex(sql, scope, indexed);
  const conversation = createConversation({
    ...{ sql, scope, config: createConfigStore(sql) },
    store: createMessageStore({ sql, now, scope }),
    sessions,
    summaries: () => compactions.list(sessionId),
    observers: [search, followEnds(compactions, scope)],
    rolledBack: () => search.forget()
  });
  return {
    compactions,
    provider: new ConversationProvider({ scope, conversation, compactions, search, ids, now }),
    changed: () => void conversation.reload()
  };
}

function providerSource(provider: SessionProvider): SessionSource {
  return {
    ...{ clock: systemClock, ids: systemIds, sql: undefined, sessionId: "", canChoose: false },
    open: () => ({ provider, compactions: compactionsOf(provider), changed: () => undefined }),
    watched: () => false
  };
}

/** A foreign provider keeps its own compactions and names them itself. */
function compactionsOf(provider: SessionProvider): CompactionStore {
  return {
    list: () => [...provider.getCompactions()],
    add: (_session, { summary, fromMessageId, toMessageId }) =>
      void provider.addCompaction(summary, fromMessageId, toMessageId),
    remove(_session, id) {
      const known = provider.getCompactions().some((compaction) => compaction.id === id);
      if (known) provider.deleteCompaction?.(id);
      return known && provider.deleteCompaction !== undefined;
    },
    clear: () => undefined,
    moveEnds: () => undefined
  };
}
