/**
 * Cuts HTML into texts and tags. Not a parser: it only has to find what a reader would see. One pass, time in proportion to the input, no
 * recursion, and no input makes it throw. Pure.
 */

export type HtmlToken =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "open" | "close";
      /** Lower case. */
      readonly name: string;
      /** The tag as written, without brackets. */
      readonly source: string;
    };

/** Elements whose content is not for readers. Skipped up to their closing tag. */
const invisible = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "canvas",
  "textarea",
  "select"
]);

const TAG = /^\/?[a-z][a-z0-9-]*/i;

export function* tokenizeHtml(html: string): Iterable<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) {
      yield { kind: "text", text: html.slice(at) };
      return;
    }
    if (open > at) yield { kind: "text", text: html.slice(at, open) };
    if (html.startsWith("<!--", open)) {
      at = after(html, "-->", open + 4);
      continue;
    }
    const name = TAG.exec(html.slice(open + 1, open + 40))?.[0].toLowerCase();
    if (name === undefined) {
      if (html[open + 1] === "!" || html[open + 1] === "?") at = after(html, ">", open);
      else {
        yield { kind: "text", text: "<" };
        at = open + 1;
      }
      continue;
    }
    const close = endOfTag(html, open + 1);
    const source = html.slice(open + 1, close);
    at = close + 1;
    if (name.startsWith("/")) yield { kind: "close", name: name.slice(1), source };
    else if (!invisible.has(name)) yield { kind: "open", name, source };
    else if (!source.endsWith("/")) at = afterElement(html, name, at);
  }
}

/** The position behind `mark`, or the end. */
function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** The position of the `>` that ends a tag; those in quoted attributes do not. */
function endOfTag(html: string, from: number): number {
  let quote = "";
  for (let index = from; index < html.length; index++) {
    const char = html.charAt(index);
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === ">") return index;
    else if ((char === '"' || char === "'") && html.charAt(index - 1) === "=") quote = char;
  }
  return html.length;
}

function afterElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}\\b[^>]*>?`, "gi");
  end.lastIndex = from;
  return end.exec(html) === null ? html.length : end.lastIndex;
}

/** The value of an attribute, entities decoded; undefined when it is missing. */
export function attribute(source: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(source);
  const value = found?.[1] ?? found?.[2] ?? found?.[3];
  return value === undefined ? undefined : decodeEntities(value);
}

/** The named references that occur in ordinary pages; others stay as they are. */
const named: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  times: "×",
  deg: "°",
  euro: "€",
  pound: "£",
  larr: "←",
  rarr: "→"
};

export function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex, decimal, name) => {
    if (typeof name === "string") return named[name.toLowerCase()] ?? whole;
    const code = typeof hex === "string" ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff);
    return isCharacter ? String.fromCodePoint(code) : "\uFFFD";
  });
}
