/**
 * A stored message -> the chunks that build it. Replaying an ended stream needs no stored chunks this way: the message is
 * the durable result, and a client that missed the end gets it in a few frames.
 *
 * I1. Accumulating the chunks gives the message again (streamed text parts come back as `done`).
 */
import type { UIMessage, UIMessageChunk } from "ai";
import { isRecord } from "../shared/json";

type Fields = Record<string, unknown> & { readonly type: string };

export function messageToChunks(message: UIMessage): UIMessageChunk[] {
  const start = {
    type: "start",
    messageId: message.id,
    ...(isRecord(message.metadata) ? { messageMetadata: message.metadata } : {})
  };
  const parts = message.parts.flatMap((part, index) => partToChunks(part as unknown as Fields, `${index}`));
  // The fields come from chunks of the same types, so the shapes fit.
  return [start, ...parts] as unknown as UIMessageChunk[];
}

function partToChunks(part: Fields, id: string): Fields[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return textChunks(part.type, part, id);
    case "step-start":
      return [{ type: "start-step" }];
    case "dynamic-tool":
      return toolChunks(part, String(part.toolName));
    default:
      return part.type.startsWith("tool-") ? toolChunks(part, part.type.slice("tool-".length)) : [part];
  }
}

function textChunks(type: "text" | "reasoning", part: Fields, id: string): Fields[] {
  const metadata = part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata };
  return [
    { type: `${type}-start`, id, ...metadata },
    ...(part.text === "" ? [] : [{ type: `${type}-delta`, id, delta: part.text }]),
    { type: `${type}-end`, id, ...metadata }
  ];
}

function toolChunks(part: Fields, toolName: string): Fields[] {
  const { toolCallId } = part;
  const identity = {
    toolCallId,
    toolName,
    ...(part.type === "dynamic-tool" ? { dynamic: true } : {}),
    ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
    ...(part.title === undefined ? {} : { title: part.title }),
    ...(part.callProviderMetadata === undefined ? {} : { providerMetadata: part.callProviderMetadata })
  };
  if (part.state === "input-streaming") return [{ type: "tool-input-start", ...identity }];
  const input = { type: "tool-input-available", ...identity, input: part.input };
  const outcome = toolOutcome(part);
  return outcome ? [input, { ...outcome, toolCallId }] : [input];
}

function toolOutcome(part: Fields): Fields | undefined {
  switch (part.state) {
    case "output-available":
      return {
        type: "tool-output-available",
        output: part.output,
        ...(part.preliminary === undefined ? {} : { preliminary: part.preliminary })
      };
    case "output-error":
      return { type: "tool-output-error", errorText: part.errorText };
    case "output-denied":
      return { type: "tool-output-denied" };
    case "approval-requested":
      return {
        type: "tool-approval-request",
        approvalId: isRecord(part.approval) ? part.approval.id : undefined
      };
    default:
      return undefined;
  }
}
