/**
 * Runtime schemas of inbound frames. Unknown fields pass (newer clients add some); wrong types do not.
 */
import { z } from "zod";
import { LIMITS } from "../shared/limits";
import { FRAME } from "./frames";

const requestId = z.string().min(1).max(LIMITS.requestIdChars);

/** A UI message as far as the server relies on its shape; parts keep all their fields. */
export const messageSchema = z.looseObject({
  id: z.string().min(1).max(LIMITS.messageIdChars),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(z.looseObject({ type: z.string() }))
});

export const clientToolSchema = z.object({
  name: z.string().min(1),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional()
});

export const clientToolsSchema = z.array(clientToolSchema).max(LIMITS.clientToolsPerRequest);

const clientTools = clientToolsSchema.nullish();

const toolCallId = z.string().min(1).max(LIMITS.toolCallIdChars);

export const chatBodySchema = z.looseObject({
  messages: z.array(messageSchema).max(LIMITS.messagesPerRequest),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  clientTools
});

/** Frames as they arrive, before the request body inside is decoded. */
export const frameSchema = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal(FRAME.chatRequest),
    id: requestId,
    init: z.looseObject({ method: z.string().optional(), body: z.string().optional() }).default({})
  }),
  z.looseObject({ type: z.literal(FRAME.chatCancel), id: requestId }),
  z.looseObject({ type: z.literal(FRAME.chatClear) }),
  z.looseObject({
    type: z.literal(FRAME.resumeRequest),
    probeId: z.string().max(LIMITS.requestIdChars).optional()
  }),
  z.looseObject({ type: z.literal(FRAME.resumeAck), id: requestId }),
  z.object({
    type: z.literal(FRAME.toolResult),
    toolCallId,
    toolName: z.string().max(LIMITS.toolNameChars).default(""),
    output: z.unknown().optional(),
    state: z.enum(["output-available", "output-error"]).optional(),
    // Cut, not refused: without an answer the model would wait for ever.
    errorText: z
      .string()
      .transform((text) => text.slice(0, LIMITS.toolErrorChars))
      .optional(),
    autoContinue: z.boolean().optional(),
    clientTools: clientTools.transform((tools) => tools ?? undefined)
  }),
  z.object({
    type: z.literal(FRAME.toolApproval),
    toolCallId,
    approved: z.boolean(),
    autoContinue: z.boolean().optional()
  }),
  z.looseObject({ type: z.literal(FRAME.chatMessages) })
]);

/** The first thing that is wrong, with its place. */
export function firstIssue(error: {
  readonly issues: readonly { readonly path: PropertyKey[]; readonly message: string }[];
}): string {
  const issue = error.issues[0];
  if (!issue) return "unknown problem";
  return issue.path.length > 0 ? `${issue.path.map(String).join(".")}: ${issue.message}` : issue.message;
}
