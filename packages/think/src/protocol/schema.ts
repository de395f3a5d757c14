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

export const chatBodySchema = z.looseObject({
  messages: z.array(messageSchema).max(LIMITS.messagesPerRequest),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  clientTools: z.array(clientToolSchema).nullish()
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
  z.looseObject({ type: z.literal(FRAME.resumeRequest), probeId: z.string().max(LIMITS.requestIdChars).optional() }),
  z.looseObject({ type: z.literal(FRAME.resumeAck), id: requestId }),
  z.looseObject({ type: z.literal(FRAME.chatMessages) })
]);
