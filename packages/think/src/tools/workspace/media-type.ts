/** Decides what a file is: the stored type where it says something, the first bytes otherwise. */
import { WORKSPACE_TOOL_LIMITS } from "../../shared/limits";

const vague = new Set(["", "application/octet-stream", "binary/octet-stream"]);

const textual = new Set(
  ["json", "javascript", "x-javascript", "typescript", "xml"].map((name) => `application/${name}`)
);

/** Lower case, without parameters. */
export function cleanMediaType(mimeType: string | undefined): string {
  return (mimeType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Whether the type says nothing, so that the bytes must be looked at. */
export function isVague(mediaType: string): boolean {
  return vague.has(mediaType);
}

export function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || textual.has(mediaType) || /\+(?:json|xml)$/.test(mediaType);
}

/** The type of a file by its first bytes: known media, text, or `application/octet-stream`. */
export function sniffMediaType(bytes: Uint8Array): string {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg";
  const head = latin1(bytes.subarray(0, 512));
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  if (head.startsWith("%PDF-")) return "application/pdf";
  if (head.toLowerCase().includes("<svg")) return "image/svg+xml";
  return looksLikeText(bytes) ? "text/plain" : "application/octet-stream";
}

function startsWith(bytes: Uint8Array, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** No NUL byte, and less than 1 % of the first characters undecodable. */
export function looksLikeText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, WORKSPACE_TOOL_LIMITS.sniffBytes);
  if (head.includes(0)) return false;
  const text = new TextDecoder().decode(head);
  if (text.length === 0) return true;
  return text.split("\uFFFD").length - 1 < text.length / 100;
}
