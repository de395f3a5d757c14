/**
 * Leaves out of a prompt what the AI SDK could not convert. Stored messages may hold parts of any shape: clients upload them, authors and
 * imports write them. One such part would fail this turn and every later one; storage keeps it, the model just does not see it.
 */
import type { UIMessage } from "ai";
import { isToolPart, toolNameOf, type Part, type ToolPart } from "../session/parts";
import { isRecord } from "../shared/json";

type Fields = Readonly<Record<string, unknown>>;

/** The messages with their usable parts; a message without a flaw is the same object. */
export function usableMessages(messages: readonly UIMessage[]): readonly UIMessage[] {
  return messages.map((message) => {
    const parts = message.parts.flatMap((part) => usablePart(part) ?? []);
    const isSame =
      parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index]);
    return isSame ? message : { ...message, parts };
  });
}

function usablePart(part: Part): Part | undefined {
  const fields: Fields = { ...part };
  const isUsable = isTool(part.type)
    ? isToolPart(part) && isUsableTool(part, fields)
    : isUsableContent(part.type, fields);
  return isUsable ? withoutFlaws(part, fields) : undefined;
}

const isTool = (type: string) => type === "dynamic-tool" || type.startsWith("tool-");

function isUsableContent(type: string, fields: Fields): boolean {
  switch (type) {
    case "text":
    case "reasoning":
      return typeof fields.text === "string";
    case "file":
      return isMediaType(fields.mediaType) && isUsableUrl(fields.url);
    default:
      // The SDK does not show other parts to models, or only as the author says.
      return true;
  }
}

const STATES: ReadonlySet<string> = new Set([
  "input-streaming",
  "input-available",
  "approval-requested",
  "approval-responded",
  "output-available",
  "output-error",
  "output-denied"
]);

function isUsableTool(part: ToolPart, fields: Fields): boolean {
  const name: unknown = toolNameOf(part);
  if (typeof name !== "string" || name === "" || part.toolCallId === "" || !STATES.has(part.state))
    return false;
  switch (part.state) {
    case "approval-requested":
      return isApproval(fields.approval);
    case "approval-responded":
      return isApproval(fields.approval) && typeof fields.approval.approved === "boolean";
    case "output-error":
      return typeof fields.errorText === "string";
    default:
      return true;
  }
}

function isApproval(value: unknown): value is Fields {
  return isRecord(value) && typeof value.id === "string" && isOptional(value.reason, "string");
}

const isOptional = (value: unknown, type: "string" | "boolean") =>
  value === undefined || typeof value === type;

const isMetadata = (value: unknown) => isRecord(value) && Object.values(value).every(isRecord);

/** What a field must be; a field that is not is left out. */
const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  providerMetadata: isMetadata,
  callProviderMetadata: isMetadata,
  resultProviderMetadata: isMetadata,
  approval: isApproval,
  filename: (value) => typeof value === "string",
  preliminary: (value) => typeof value === "boolean",
  providerExecuted: (value) => typeof value === "boolean"
};

function withoutFlaws(part: Part, fields: Fields): Part {
  const flawed = Object.entries(CHECKS).flatMap(([name, isRight]) =>
    fields[name] === undefined || isRight(fields[name]) ? [] : [name]
  );
  if (flawed.length === 0) return part;
  const kept = Object.entries(fields).filter(([name]) => !flawed.includes(name));
  // Only optional fields were taken away.
  return Object.fromEntries(kept) as unknown as Part;
}

const isMediaType = (value: unknown) => typeof value === "string" && /^[^/\s]+\/[^/\s]+$/.test(value);

/** How much of a data URL is looked at: the rest is not decoded to find out what it is. */
const LOOKED_AT = 1000;

function isUsableUrl(value: unknown): boolean {
  if (typeof value !== "string") return false;
  if (!value.startsWith("data:")) return URL.canParse(value);
  const start = value.slice(0, LOOKED_AT);
  const comma = start.indexOf(",");
  if (comma < 0) return false;
  return !start.slice(0, comma).endsWith(";base64") || /^[\w+/-]*={0,2}$/.test(start.slice(comma + 1));
}
