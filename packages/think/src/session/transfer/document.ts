/**
 * A session as one JSON document: what `exportSession` writes and `importSession` reads. Version 1.
 *
 * I1. The order of keys and entries is fixed (messages and branches by id), so equal sessions give equal bytes. Messages are kept as they
 *     came: a schema only looks at them.
 * I2. The document does not name the session's id: it can be imported beside its original.
 * I3. A document comes from outside. What passes is a tree of messages that can be stored, within limits.
 */
import type { UIMessage } from "ai";
import { z } from "zod";
import { firstIssue, messageSchema } from "../../protocol/schema";
import { COMPACTION_LIMITS, CONTEXT_LIMITS, LIMITS, SESSION_LIMITS } from "../../shared/limits";
import { ThinkError } from "../../shared/errors/think-error";
import { PROMPT_LABEL } from "../context/block";
import { LARGEST_SECONDS } from "../timestamps";
import { isAttachmentPath } from "./attachment-path";
import { findCycle, treeOrder } from "./tree-order";

export const DOCUMENT_FORMAT = "think-session";
export const DOCUMENT_VERSION = 1;

/** SQLite would replace half a surrogate pair, and two ids could become one. */
const wellFormed = (text: string) => text.isWellFormed();
const id = z.string().min(1).max(LIMITS.messageIdChars).refine(wellFormed, "is not well-formed text");
/** A smaller number would be read as seconds. */
const time = z
  .number()
  .int()
  .max(8.64e15)
  .refine((ms) => ms === 0 || ms > LARGEST_SECONDS, "is not a time in milliseconds since 1970");
const amount = z.number().nonnegative();
const note = z.string().max(SESSION_LIMITS.noteChars).nullable();

const sessionSchema = z.object({
  name: z.string().max(SESSION_LIMITS.nameChars),
  model: note,
  source: note,
  input_tokens: amount,
  output_tokens: amount,
  estimated_cost: amount,
  end_reason: note,
  created_at: time,
  updated_at: time
});

const branchSchema = z.object({
  parentId: id.nullable(),
  childId: id,
  leafId: id.nullable(),
  label: z.string().max(SESSION_LIMITS.labelChars).nullable()
});

const compactionSchema = z.object({
  id,
  summary: z.string().min(1).max(SESSION_LIMITS.importTextChars),
  fromMessageId: id,
  toMessageId: id,
  createdAt: time
});

const blockSchema = z.object({
  label: z
    .string()
    .min(1)
    .max(CONTEXT_LIMITS.labelChars)
    .refine((label) => !label.startsWith(PROMPT_LABEL), "is the key of a prompt"),
  content: z.string().max(SESSION_LIMITS.importTextChars)
});

const documentSchema = z.object({
  format: z.literal(DOCUMENT_FORMAT),
  version: z.literal(DOCUMENT_VERSION),
  session: sessionSchema,
  leaf: id.nullable(),
  messages: z
    .array(z.object({ parentId: id.nullable(), createdAt: time, message: messageSchema }))
    .max(SESSION_LIMITS.importMessages),
  branches: z.array(branchSchema).max(SESSION_LIMITS.importMessages),
  compactions: z.array(compactionSchema).max(COMPACTION_LIMITS.overlays),
  context: z.array(blockSchema).max(CONTEXT_LIMITS.blocks),
  attachments: z.array(
    z.object({
      path: z.string().refine(isAttachmentPath, "is not a path below /attachments/evicted/"),
      content: z.string()
    })
  )
});

interface DocumentMessage {
  readonly parentId: string | null;
  readonly createdAt: number;
  readonly message: UIMessage;
}

/** An exported session. */
export type SessionDocument = Omit<z.infer<typeof documentSchema>, "messages"> & {
  readonly messages: readonly DocumentMessage[];
};

/** A document of this version whose tree is one. Throws a ThinkError `invalid-import` that says what is wrong. */
export function parseDocument(input: unknown): SessionDocument {
  const value = typeof input === "string" ? parseText(input) : input;
  refuseOther(value);
  const checked = documentSchema.safeParse(value);
  if (!checked.success) throw invalidImport(firstIssue(checked.error));
  // The schema's copy has another order of keys; what came is of the same shape.
  const { messages } = value as { readonly messages: readonly DocumentMessage[] };
  const document = { ...checked.data, messages };
  checkTree(document);
  checkNames(document);
  return document;
}

function parseText(text: string): unknown {
  if (text.length > SESSION_LIMITS.importChars)
    throw invalidImport(
      `it has ${text.length} characters, and at most ${SESSION_LIMITS.importChars} can be imported`
    );
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalidImport("it is not JSON", cause);
  }
}

/** Told apart from other mistakes, because the remedy is another one. */
function refuseOther(value: unknown): void {
  const header = z.looseObject({ format: z.literal(DOCUMENT_FORMAT), version: z.number() }).safeParse(value);
  if (!header.success)
    throw invalidImport(`it does not begin with "format": "${DOCUMENT_FORMAT}" and a version number`);
  if (header.data.version !== DOCUMENT_VERSION)
    throw invalidImport(
      `it has version ${header.data.version}, and this release reads version ${DOCUMENT_VERSION}. Export it again, or use the release that wrote it`
    );
}

function checkTree({ messages, leaf, branches, compactions }: SessionDocument): void {
  const parents = new Map(messages.map(({ message, parentId }) => [message.id, parentId]));
  if (parents.size < messages.length) throw invalidImport("two messages have the same id");
  for (const [messageId, parentId] of parents) {
    if (!messageId.isWellFormed()) throw invalidImport("a message id is not well-formed text");
    if (parentId !== null && !parents.has(parentId))
      throw invalidImport(`message ${messageId} follows ${parentId}, which is not in it`);
  }
  const cycle = findCycle(parents);
  if (cycle !== undefined) throw invalidImport(`message ${cycle} follows itself`);
  if (leaf === null ? parents.size > 0 : !parents.has(leaf))
    throw invalidImport("its leaf is not one of its messages");
  const { isBefore } = treeOrder(parents);
  for (const { childId, parentId, leafId } of branches) {
    if (!parents.has(childId)) throw invalidImport(`it names message ${childId}, which is not in it`);
    if (parents.get(childId) !== parentId || (leafId !== null && !isBefore(childId, leafId)))
      throw invalidImport(`the branch that begins with message ${childId} is not one of its tree`);
  }
  for (const { fromMessageId, toMessageId } of compactions) {
    if (!isBefore(fromMessageId, toMessageId))
      throw invalidImport(
        `a summary stands for ${fromMessageId} to ${toMessageId}, which is no part of a path`
      );
  }
}

/** Keys of rows: the second of two would be lost, or fail. */
function checkNames({ branches, compactions, context, attachments }: SessionDocument): void {
  const lists = {
    branches: branches.map(({ childId }) => childId),
    compactions: compactions.map((compaction) => compaction.id),
    context: context.map(({ label }) => label),
    attachments: attachments.map(({ path }) => path)
  };
  for (const [list, names] of Object.entries(lists)) {
    if (new Set(names).size < names.length) throw invalidImport(`two of its ${list} have the same name`);
  }
}

export function invalidImport(problem: string, cause?: unknown): ThinkError {
  return new ThinkError(`This document cannot be imported: ${problem}. Nothing was stored.`, {
    code: "invalid-import",
    ...(cause === undefined ? {} : { cause })
  });
}
