/**
 * Text from a socket -> a checked frame. Never throws. Called once per inbound message, before the agent's own
 * `onMessage`.
 *
 * I1. Only frames of the chat protocol are consumed; everything else is `foreign` and belongs to the agent.
 * I2. A frame of the protocol with wrong fields is `invalid`: it changes nothing, and when it names a request, the
 *     sender can be told why.
 */
import type { UIMessage } from "ai";
import { isRecord, parseJson } from "../shared/json";
import { LIMITS } from "../shared/limits";
import { FRAME, type ChatRequestBody, type ClientFrame } from "./frames";
import { chatBodySchema, frameSchema, firstIssue } from "./schema";

export type ParsedFrame =
  | { readonly kind: "frame"; readonly frame: ClientFrame }
  /** Recognised but without effect, such as a request that is not a POST. */
  | { readonly kind: "ignored" }
  | { readonly kind: "foreign" }
  | { readonly kind: "invalid"; readonly reason: string; readonly requestId?: string };

/** Only an object can be a frame; anything else need not be parsed. */
const OBJECT = /^\s*\{/;

const FRAME_LIMIT = `${LIMITS.inboundFrameChars / 1024 / 1024} MiB`;

const inboundTypes: ReadonlySet<unknown> = new Set([
  FRAME.chatRequest,
  FRAME.chatCancel,
  FRAME.chatClear,
  FRAME.resumeRequest,
  FRAME.resumeAck,
  FRAME.toolResult,
  FRAME.toolApproval,
  FRAME.chatMessages
]);

export function parseClientFrame(data: unknown): ParsedFrame {
  if (typeof data !== "string" || !OBJECT.test(data)) return { kind: "foreign" };
  if (data.length > LIMITS.inboundFrameChars) return oversized(data);
  const json = parseJson(data);
  if (!json.ok)
    return looksLikeProtocol(data)
      ? { kind: "invalid", reason: `The frame ${json.reason}.` }
      : { kind: "foreign" };
  if (!isRecord(json.value) || !inboundTypes.has(json.value.type)) return { kind: "foreign" };
  const frame = frameSchema.safeParse(json.value);
  if (!frame.success) return invalid(firstIssue(frame.error), json.value.id);
  if (frame.data.type !== FRAME.chatRequest) return { kind: "frame", frame: frame.data };
  const { id, init } = frame.data;
  if (init.method !== "POST" || !init.body) return { kind: "ignored" };
  const body = parseBody(init.body);
  return body.ok
    ? { kind: "frame", frame: { type: FRAME.chatRequest, id, body: body.value } }
    : { kind: "invalid", reason: body.reason, requestId: id };
}

type BodyResult =
  | { readonly ok: true; readonly value: ChatRequestBody }
  | { readonly ok: false; readonly reason: string };

function parseBody(text: string): BodyResult {
  const json = parseJson(text);
  if (!json.ok) return { ok: false, reason: `The request body ${json.reason}.` };
  const body = chatBodySchema.safeParse(json.value);
  if (!body.success)
    return { ok: false, reason: `The request body is malformed: ${firstIssue(body.error)}.` };
  const { messages, trigger, clientTools, ...custom } = body.data;
  return {
    ok: true,
    value: {
      // The schema has checked all that the server relies on; parts are the AI SDK's own open union.
      messages: messages as unknown as UIMessage[],
      trigger,
      ...(clientTools === undefined ? {} : { clientTools: clientTools ?? [] }),
      custom
    }
  };
}

/** A frame above the size limit is not parsed; its id is read from the ends so that the sender can be answered. */
function oversized(data: string): ParsedFrame {
  if (looksLike(data, FRAME.toolResult)) return oversizedResult(data);
  if (!looksLikeProtocol(data)) return { kind: "foreign" };
  const id = /"id":"([\w-]{1,200})"/.exec(ends(data))?.[1];
  return invalid(
    `The message is larger than ${FRAME_LIMIT}. Send less, or attach large files by reference`,
    id
  );
}

/** The call gets an error result: dropped without a word, it would leave the model waiting for ever. */
function oversizedResult(data: string): ParsedFrame {
  const toolCallId = /"toolCallId":"([\w.:-]{1,200})"/.exec(ends(data))?.[1];
  if (toolCallId === undefined) return { kind: "ignored" };
  const errorText = `The tool's result is larger than ${FRAME_LIMIT} and was not accepted.`;
  const autoContinue = ends(data).includes('"autoContinue":true');
  const frame = {
    type: FRAME.toolResult,
    toolCallId,
    toolName: "",
    state: "output-error",
    errorText,
    autoContinue
  } as const;
  return { kind: "frame", frame };
}

function looksLikeProtocol(data: string): boolean {
  return looksLike(data, FRAME.chatRequest);
}

function looksLike(data: string, type: string): boolean {
  return ends(data).includes(`"type":"${type}"`);
}

/** Clients write `id` first and `type` last, so both ends are enough to recognise a frame. */
function ends(data: string): string {
  return data.slice(0, 512) + data.slice(-512);
}

function invalid(reason: string, id: unknown): ParsedFrame {
  const requestId = typeof id === "string" && id.length <= LIMITS.requestIdChars ? { requestId: id } : {};
  return { kind: "invalid", reason, ...requestId };
}
