/**
 * What the message rules need to know about parts. Messages come from clients, so a part's fields may be missing or of any type
 * although the AI SDK's types say otherwise; the checks here do not rely on them.
 */
import type { UIMessage } from "ai";

export type Part = UIMessage["parts"][number];
export type ToolPart = Extract<Part, { readonly toolCallId: string; readonly state: string }>;

/** A tool part of either form, with the id that all rules go by. */
export function isToolPart(part: Part): part is ToolPart {
  const isTool = part.type === "dynamic-tool" || part.type.startsWith("tool-");
  return isTool && "toolCallId" in part && typeof part.toolCallId === "string";
}

/** The name of the tool, in either form. */
export function toolNameOf(part: ToolPart): string {
  return part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
}

export function isDataUrl(url: unknown): url is string {
  return typeof url === "string" && url.startsWith("data:");
}

/** Whether any part is a tool part. */
export function hasToolParts(message: UIMessage): boolean {
  return message.parts.some(isToolPart);
}
