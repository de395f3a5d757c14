/** Words taken out of messages: for titles, for copying, for reading aloud. */
import type { UIMessage } from "ai";

/** The text of a message, without reasoning and tool calls. */
export function messageText(message: UIMessage): string {
  return message.parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Markdown as it is spoken: without the marks for emphasis, code, headings and tables. */
export function spokenText(markdown: string): string {
  return markdown
    .replace(/^\s*\|?[\s|:-]*-{3}[\s|:-]*$/gm, "")
    .replace(/^\s*(?:#{1,6}|[-*>])\s+/gm, "")
    .replace(/[`*|\\]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Longest title (characters). */
const MAXIMUM_TITLE = 60;

/** A title for a chat: the first line of its first request, with a capital letter. */
export function chatTitle(request: string): string {
  const line = request.trim().split("\n", 1)[0] ?? "";
  const title = line.length > MAXIMUM_TITLE ? `${line.slice(0, MAXIMUM_TITLE - 1).trimEnd()}…` : line;
  return title.charAt(0).toUpperCase() + title.slice(1);
}
