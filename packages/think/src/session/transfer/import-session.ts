/**
 * Stores a session document as a new session, all of it or nothing: one transaction, after everything has been checked.
 */
import type { UIMessage } from "ai";
import { exceedsDepth } from "../../shared/json";
import { LIMITS, SESSION_LIMITS } from "../../shared/limits";
import type { Sql } from "../../storage/sql";
import type { BranchStore } from "../branch-store";
import type { CompactionStore } from "../compaction/compaction-store";
import type { MessageStore } from "../message-store";
import { missingForks } from "../forks";
import { utf8Bytes, type RowMessage } from "../row-limit";
import { prepareMessage } from "../sanitize";
import type { SessionStore } from "../session-store";
import { invalidImport, type SessionDocument } from "./document";

export interface ImportTarget {
  readonly sql: Sql;
  readonly sessionId: string;
  /** Stores of the new session. */
  readonly store: MessageStore;
  readonly branches: BranchStore;
  readonly sessions: SessionStore;
  readonly compactions: CompactionStore;
  /** Stores the context blocks of the new session. */
  readonly storeContext: (blocks: SessionDocument["context"]) => void;
}

/** Throws when a message cannot be stored. */
export function checkMessages({ messages }: SessionDocument): void {
  for (const { message } of messages) rowOf(message);
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
    noteForks(document, target);
    for (const compaction of document.compactions) target.compactions.add(sessionId, compaction);
    if (document.leaf !== null) sessions.savePointer(sessionId, { id: document.leaf, ...size });
    if (session.end_reason !== null) sessions.end(sessionId, session.end_reason);
    sessions.addUsage(sessionId, session.input_tokens, session.output_tokens, session.estimated_cost);
    target.storeContext(document.context);
    sessions.touch(sessionId, session.updated_at);
  });
}

/** Stores every message and returns the size of the path to the leaf. */
function storeMessages(
  { messages, leaf }: SessionDocument,
  { store }: ImportTarget
): { count: number; bytes: number } {
  for (const { parentId, createdAt, message } of messages) {
    if (store.insert(rowOf(message), parentId, createdAt) === undefined)
      throw invalidImport(`message ${message.id} is stored already`);
  }
  let count = 0;
  let bytes = 0;
  for (const row of leaf === null ? [] : store.sizes(leaf)) {
    count += 1;
    bytes += row.bytes;
  }
  return { count, bytes };
}

/** A document that was written by other means may not say where its tree forks. */
function noteForks({ messages, branches, leaf }: SessionDocument, target: ImportTarget): void {
  const links = messages
    .map(({ message, parentId, createdAt }) => ({ id: message.id, parentId, createdAt }))
    .toSorted((a, b) => a.createdAt - b.createdAt);
  for (const { parentId, childId, leafId } of missingForks(links, leaf, branches))
    target.branches.note(parentId, childId, leafId);
}

function rowOf(message: UIMessage): RowMessage {
  const prepared = prepareMessage(message);
  if (!prepared || prepared.parts.length === 0)
    throw invalidImport(`message ${message.id} is empty: it has no parts that are stored`);
  if (exceedsDepth(prepared, SESSION_LIMITS.importDepth))
    throw invalidImport(`message ${message.id} is nested deeper than ${SESSION_LIMITS.importDepth} levels`);
  const json = JSON.stringify(prepared);
  if (utf8Bytes(json) > LIMITS.messageBytes)
    throw invalidImport(`message ${message.id} is larger than ${LIMITS.messageBytes} bytes`);
  return { message: prepared, json };
}
