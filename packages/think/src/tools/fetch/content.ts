/** Turns the bytes of a page into bounded text for the model: Markdown where possible. Pure. */
import { htmlToMarkdown } from "./html-to-markdown";
import type { Page } from "./request";
import { cleanMediaType, isText, isVague, sniffMediaType } from "../workspace/media-type";

export type PageContent =
  | {
      readonly ok: true;
      readonly mediaType: string;
      /** What `text` is: Markdown as served, HTML turned into Markdown, or any other text as served. */
      readonly format: "markdown" | "text";
      readonly text: string;
      readonly title?: string;
    }
  /** The type of a page that is not text. */
  | { readonly ok: false; readonly mediaType: string };

/** Longest media type that is believed, in UTF-16 code units; registered ones have fewer. */
const MEDIA_TYPE_CHARS = 100;

const htmlTypes = new Set(["text/html", "application/xhtml+xml"]);
const markdownTypes = new Set(["text/markdown", "text/x-markdown"]);

export function pageContent(page: Page): PageContent {
  const declared = cleanMediaType(page.contentType).slice(0, MEDIA_TYPE_CHARS);
  const mediaType = isVague(declared) ? sniff(page.bytes) : declared;
  if (!isText(mediaType)) return { ok: false, mediaType };
  const text = decode(page);
  if (htmlTypes.has(mediaType)) {
    const { markdown, title } = htmlToMarkdown(text, page.url);
    return {
      ok: true,
      mediaType,
      format: "markdown",
      text: markdown,
      ...(title === undefined ? {} : { title })
    };
  }
  return { ok: true, mediaType, format: markdownTypes.has(mediaType) ? "markdown" : "text", text };
}

function sniff(bytes: Uint8Array): string {
  const type = sniffMediaType(bytes);
  if (type !== "text/plain" && type !== "image/svg+xml") return type;
  const start = new TextDecoder().decode(bytes.subarray(0, 512)).trimStart().toLowerCase();
  return start.startsWith("<!doctype html") || start.startsWith("<html") ? "text/html" : type;
}

function decode(page: Page): string {
  const charset = /charset\s*=\s*"?([\w.:-]{1,40})/i.exec(page.contentType)?.[1] ?? "utf-8";
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset);
  } catch {
    // An unknown name: most pages are UTF-8 whatever they say.
    decoder = new TextDecoder();
  }
  // In streaming mode a character that the size limit cut in two is left out. NUL cannot be stored everywhere.
  return decoder.decode(page.bytes, { stream: page.cut }).replaceAll("\0", "\uFFFD");
}
