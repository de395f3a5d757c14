/**
 * A session as one JSON document: what `exportSession` writes and `importSession` reads. Version 1.
 *
 * I1. The order of keys and entries is fixed (messages and branches by id), so equal sessions give equal bytes.
 * I2. The document does not name the session's id: it can be imported beside its original.
 */
import { z } from "zod";
import { firstIssue, messageSchema } from "../../protocol/schema";
import { LIMITS, SESSION_LIMITS } from "../../shared/limits";
import { ThinkError } from "../../shared/errors/think-error";

export const DOCUMENT_FORMAT = "think-session";
export const DOCUMENT_VERSION = 1;

const id = z.string().min(1).max(LIMITS.messageIdChars);
const time = z.number().finite().nonnegative();
const amount = z.number().finite().nonnegative();

const sessionSchema = z.object({
  name: z.string().max(SESSION_LIMITS.nameChars),
  model: z.string().nullable(),
  source: z.string().nullable(),
  input_tokens: amount,
  output_tokens: amount,
  estimated_cost: amount,
  end_reason: z.string().nullable(),
  created_at: time,
  updated_at: time
});

export const documentSchema = z.object({
  format: z.literal(DOCUMENT_FORMAT),
  version: z.literal(DOCUMENT_VERSION),
  session: sessionSchema,
  leaf: id.nullable(),
  messages: z
    .array(z.object({ parentId: id.nullable(), createdAt: time, message: messageSchema }))
    .max(SESSION_LIMITS.importMessages),
  branches: z.array(
    z.object({
      parentId: id.nullable(),
      childId: id,
      leafId: id.nullable(),
      label: z.string().max(SESSION_LIMITS.labelChars).nullable()
    })
  ),
  compactions: z.array(
    z.object({ id, summary: z.string(), fromMessageId: id, toMessageId: id, createdAt: time })
  ),
  context: z.array(z.object({ label: z.string(), content: z.string() })),
  attachments: z.array(z.object({ path: z.string().startsWith("/attachments/"), content: z.string() }))
});

/** An exported session. */
export type SessionDocument = z.infer<typeof documentSchema>;

/** A document of this version whose tree is one. Throws a ThinkError `invalid-import` that says what is wrong. */
export function parseDocument(input: unknown): SessionDocument {
  const value = typeof input === "string" ? parseText(input) : input;
  refuseOther(value);
  const checked = documentSchema.safeParse(value);
  if (!checked.success) throw invalid(firstIssue(checked.error));
  checkTree(checked.data);
  return checked.data;
}

function parseText(text: string): unknown {
  if (text.length > SESSION_LIMITS.importChars)
    throw invalid(
      `it has ${text.length} characters, and at most ${SESSION_LIMITS.importChars} can be imported`
    );
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalid("it is not JSON", cause);
  }
}

/** Told apart from other mistakes, because the remedy is another one. */
function refuseOther(value: unknown): void {
  const header = z.looseObject({ format: z.literal(DOCUMENT_FORMAT), version: z.number() }).safeParse(value);
  if (!header.success)
    throw invalid(`it does not begin with "format": "${DOCUMENT_FORMAT}" and a version number`);
  if (header.data.version !== DOCUMENT_VERSION)
    throw invalid(
      `it has version ${header.data.version}, and this release reads version ${DOCUMENT_VERSION}. Export it again, or use the release that wrote it`
    );
}

function checkTree({ messages, leaf, branches, compactions }: SessionDocument): void {
  const parents = new Map(messages.map(({ message, parentId }) => [message.id, parentId]));
  if (parents.size < messages.length) throw invalid("two messages have the same id");
  for (const [messageId, parentId] of parents) {
    if (parentId !== null && !parents.has(parentId))
      throw invalid(`message ${messageId} follows ${parentId}, which is not in it`);
  }
  checkCycles(parents);
  if (leaf === null ? parents.size > 0 : !parents.has(leaf))
    throw invalid("its leaf is not one of its messages");
  const named = [
    ...branches.flatMap(({ parentId, childId, leafId }) => [parentId, childId, leafId]),
    ...compactions.flatMap(({ fromMessageId, toMessageId }) => [fromMessageId, toMessageId])
  ];
  const unknown = named.find((name) => name !== null && !parents.has(name));
  if (unknown !== undefined) throw invalid(`it names message ${unknown}, which is not in it`);
}

function checkCycles(parents: ReadonlyMap<string, string | null>): void {
  const rooted = new Set<string>();
  for (const start of parents.keys()) {
    const walked = new Set<string>();
    let next: string | null = start;
    while (next !== null && !rooted.has(next)) {
      if (walked.has(next)) throw invalid(`message ${next} follows itself`);
      walked.add(next);
      next = parents.get(next) ?? null;
    }
    for (const seen of walked) rooted.add(seen);
  }
}

function invalid(problem: string, cause?: unknown): ThinkError {
  return new ThinkError(`This document cannot be imported: ${problem}. Nothing was stored.`, {
    code: "invalid-import",
    ...(cause === undefined ? {} : { cause })
  });
}
