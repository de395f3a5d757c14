/** What a thought log keeps, and where. Stores are synchronous: one call is atomic, so parallel thoughts never share a step. */

/** One thought of a session. */
export interface ThoughtEntry {
  /** ISO 8601, UTC, with `Z`. */
  readonly timestamp: string;
  readonly thought: string;
  /** From 1, never used twice until the session is cleared. */
  readonly step: number;
}

/** Times are ISO 8601, UTC, with `Z`. */
export interface ThoughtMetadata {
  readonly createdAt: string;
  readonly lastUpdated: string;
  /** Thoughts ever added, those that were dropped included. */
  readonly totalSteps: number;
}

export interface ThoughtStore {
  /** The session's data, made with `now` when it is new. */
  open(sessionId: string, now: string): ThoughtMetadata;
  /** Appends, drops the oldest thoughts above `keep`, and says which step it was and how many are kept. */
  append(
    sessionId: string,
    thought: { readonly text: string; readonly now: string },
    keep: number
  ): { readonly step: number; readonly kept: number };
  /** Oldest first. */
  list(sessionId: string): ThoughtEntry[];
  /** Forgets the session with its counters. */
  clear(sessionId: string): void;
  /** Forgets sessions not used since `before`; returns how many. */
  clearUnusedSince(before: string): number;
}

interface Session {
  readonly createdAt: string;
  lastUpdated: string;
  totalSteps: number;
  readonly thoughts: ThoughtEntry[];
}

/** Thoughts in the memory of the isolate: gone with it. */
export class MemoryThoughts implements ThoughtStore {
  readonly #sessions = new Map<string, Session>();

  open(sessionId: string, now: string): ThoughtMetadata {
    const { createdAt, lastUpdated, totalSteps } = this.#session(sessionId, now);
    return { createdAt, lastUpdated, totalSteps };
  }

  append(
    sessionId: string,
    { text, now }: { readonly text: string; readonly now: string },
    keep: number
  ): { readonly step: number; readonly kept: number } {
    const session = this.#session(sessionId, now);
    const { thoughts } = session;
    const step = ++session.totalSteps;
    session.lastUpdated = now;
    thoughts.splice(0, Math.max(thoughts.length - keep + 1, 0));
    thoughts.push({ timestamp: now, thought: text, step });
    return { step, kept: thoughts.length };
  }

  list(sessionId: string): ThoughtEntry[] {
    return (this.#sessions.get(sessionId)?.thoughts ?? []).map((entry) => ({ ...entry }));
  }

  clear(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  clearUnusedSince(before: string): number {
    let cleared = 0;
    for (const [sessionId, { lastUpdated }] of this.#sessions) {
      if (lastUpdated >= before) continue;
      this.#sessions.delete(sessionId);
      cleared++;
    }
    return cleared;
  }

  #session(sessionId: string, now: string): Session {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const created: Session = { createdAt: now, lastUpdated: now, totalSteps: 0, thoughts: [] };
    this.#sessions.set(sessionId, created);
    return created;
  }
}
