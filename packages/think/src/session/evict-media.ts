/**
 * Replaces large media inside a message by short markers: data URLs of file parts, and long strings anywhere in tool outputs. Pure:
 * the caller writes the files first and the message afterwards.
 *
 * I1. Plain text parts and URLs that point elsewhere are never touched.
 * I2. A message with nothing large is returned as it is; evicting twice changes nothing more.
 */
import type { UIMessage } from "ai";
import { isRecord } from "../shared/json";
import { MESSAGE_LIMITS } from "../shared/limits";
import { isDataUrl, isToolPart, type Part } from "./parts";
import { utf8Bytes } from "./row-limit";
import { textHash } from "./text-hash";

export interface EvictMediaOptions {
  /** Smallest string that is replaced, in characters. */
  readonly minPartBytes: number;
  /** Whether the originals will be kept as files; markers then name the path. */
  readonly externalize: boolean;
}

/** An original that left the message. */
export interface EvictedFile {
  readonly path: string;
  readonly content: string;
}

export interface EvictedMedia {
  readonly message: UIMessage;
  /** One per replaced string, also when they are not to be kept. */
  readonly files: readonly EvictedFile[];
  /** UTF-8 bytes that left the message. */
  readonly bytes: number;
}

/** The message without large media, and what was taken out. */
export function evictMedia(message: UIMessage, options: EvictMediaOptions): EvictedMedia {
  const files: EvictedFile[] = [];
  let bytes = 0;
  const take = (content: string, mediaType: string | undefined): string => {
    const path = `/attachments/evicted/${fileStem(message.id)}-${files.length}.${extension(mediaType)}`;
    const size = utf8Bytes(content);
    files.push({ path, content });
    bytes += size;
    const kind = mediaType === undefined ? "" : `${mediaType}, `;
    return `[evicted ${kind}${size} bytes${options.externalize ? `; preserved at ${path}` : ""}]`;
  };
  const parts = message.parts.map((part) => evictPart(part, options.minPartBytes, take));
  return { message: files.length === 0 ? message : { ...message, parts }, files, bytes };
}

type Take = (content: string, mediaType: string | undefined) => string;

function evictPart(part: Part, minimum: number, take: Take): Part {
  if (part.type === "file" && isDataUrl(part.url) && part.url.length >= minimum) {
    return { type: "text", text: take(part.url, declaredType(part.mediaType) ?? mediaTypeOf(part.url)) };
  }
  if (!isToolPart(part) || !("output" in part)) return part;
  const output = evictStrings(part.output, minimum, take, MESSAGE_LIMITS.outputDepth);
  return output === part.output ? part : ({ ...part, output } as Part);
}

/** The value with long strings replaced; the same value when there are none. */
function evictStrings(value: unknown, minimum: number, take: Take, depth: number): unknown {
  if (typeof value === "string") {
    const stays = value.length < minimum || MARKER.test(value);
    return stays ? value : take(value, mediaTypeOf(value));
  }
  if (depth === 0) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => evictStrings(item, minimum, take, depth - 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(
    ([key, item]) => [key, evictStrings(item, minimum, take, depth - 1)] as const
  );
  return entries.some(([key, item]) => item !== value[key]) ? Object.fromEntries(entries) : value;
}

/** What `take` leaves behind. */
const MARKER = /^\[evicted (?:[^,\]]+, )?(\d+) bytes(?:; preserved at [^\]]+)?\]$/;

/**
 * Whether `incoming` is what `stored` was before its media was evicted. Clients keep the original and upload it with every request;
 * writing it back would undo the eviction each time.
 */
export function isOriginalOf(incoming: UIMessage, stored: UIMessage): boolean {
  return incoming.id === stored.id && incoming.role === stored.role && matches(incoming.parts, stored.parts);
}

function matches(incoming: unknown, stored: unknown): boolean {
  if (incoming === stored) return true;
  if (typeof stored === "string") return typeof incoming === "string" && standsFor(stored, incoming);
  if (Array.isArray(incoming) && Array.isArray(stored)) {
    return incoming.length === stored.length && incoming.every((item, index) => matches(item, stored[index]));
  }
  if (!isRecord(incoming) || !isRecord(stored)) return false;
  if (incoming.type === "file" && stored.type === "text") {
    return isDataUrl(incoming.url) && typeof stored.text === "string" && standsFor(stored.text, incoming.url);
  }
  const keys = new Set([...Object.keys(incoming), ...Object.keys(stored)]);
  return [...keys].every((key) => matches(incoming[key], stored[key]));
}

function standsFor(marker: string, original: string): boolean {
  const bytes = MARKER.exec(marker)?.[1];
  return bytes !== undefined && utf8Bytes(original) === Number(bytes);
}

/** The type a client gave, as far as it is one. */
function declaredType(mediaType: unknown): string | undefined {
  return typeof mediaType === "string"
    ? /^[\w.+-]{1,60}\/[\w.+-]{0,60}(?=;|$)/.exec(mediaType)?.[0]
    : undefined;
}

function mediaTypeOf(text: string): string | undefined {
  return /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(text.slice(0, 200))?.[1];
}

function extension(mediaType: string | undefined): string {
  if (mediaType === undefined) return "txt";
  const subtype = mediaType
    .split("/")[1]
    ?.replaceAll(/[^a-zA-Z0-9]/g, "")
    .slice(0, 32);
  return subtype === undefined || subtype === "" ? "bin" : subtype;
}

/** Ids are chosen by clients: what could leave the folder or confuse a file system is replaced, and a hash keeps names apart. */
function fileStem(messageId: string): string {
  if (/^[\w-]{1,120}$/.test(messageId)) return messageId;
  return `${messageId.replaceAll(/[^\w-]/g, "_").slice(0, 80)}-${textHash(messageId)}`;
}
