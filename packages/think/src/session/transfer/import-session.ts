/**
 * Stores a session document as a new session, all of it or nothing. Files that its messages refer to are written first: a file too many
 * harms nobody, a missing one would.
 */
import type { UIMessage } from "ai";
import { ThinkError } from "../../shared/errors/think-error";
import { LIMITS } from "../../shared/limits";
import type { Sql } from "../../storage/sql";
import type { BranchStore } from "../branch-store";
import type { CompactionStore } from "../compaction/compaction-store";
import type { MessageStore } from "../message-store";
import { utf8Bytes } from "../row-limit";
import { prepareMessage } from "../sanitize";
import type { SessionStore } from "../session-store";
import type { SessionDocument } from "./document";

export interface ImportTarget {
  readonly sql: Sql;
  readonly sessionId: string;
  /** Stores of the new session. */
  readonly store: MessageStore;
  readonly branches: BranchStore;
  readonly sessions: SessionStore;
  readonly compactions: CompactionStore;
}

export function importSession(document: SessionDocument, target: ImportTarget): void {
  const { sql, sessionId, sessions } = target;
  const { session } = document;
  sql.transaction(() => {
    sessions.create({
      id: sessionId,
      ...{ name: session.name, model: session.model, source: session.source },
      createdAt: session.created_at
    });
    const size = storeMessages(document, target);
    for (const { parentId, childId, leafId, label } of document.branches) {
      target.branches.note(parentId, childId, leafId);
      if (label !== null) target.branches.label(parentId, childId, label);
    }
    for (const compaction of document.compactions) target.compactions.add(sessionId, compaction);
    if (document.leaf !== null) sessions.savePointer(sessionId, { id: document.leaf, ...size });
    if (session.end_reason !== null) sessions.end(sessionId, session.end_reason);
    sessions.addUsage(sessionId, session.input_tokens, session.output_tokens, session.estimated_cost);
    sessions.touch(sessionId, session.updated_at);
  });
}

/** Stores every message and returns the size of the path to the leaf. */
function storeMessages(
  { messages, leaf }: SessionDocument,
  { store }: ImportTarget
): { count: number; bytes: number } {
  for (const { parentId, createdAt, message } of messages) {
    const prepared = prepareMessage(message as UIMessage);
    const json = JSON.stringify(prepared);
    if (!prepared || utf8Bytes(json) > LIMITS.messageBytes)
      throw new ThinkError(
        `Message ${message.id} of the document cannot be stored: it is empty, or larger than ${LIMITS.messageBytes} bytes. Nothing was stored.`,
        { code: "invalid-import" }
      );
    store.insert({ message: prepared, json }, parentId, createdAt);
  }
  let count = 0;
  let bytes = 0;
  for (const row of leaf === null ? [] : store.sizes(leaf)) {
    count += 1;
    bytes += row.bytes;
  }
  return { count, bytes };
}
