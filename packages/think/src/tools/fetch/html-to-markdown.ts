/**
 * HTML as Markdown, for models: headings, paragraphs, lists, links, emphasis, code, quotations and tables. Layout, scripts and forms are
 * left out. Time in proportion to the input, no recursion. Pure.
 */
import { FETCH_TOOL_LIMITS } from "../../shared/limits";
import { cutText } from "../workspace/format";
import { attribute, decodeEntities, tokenizeHtml, type HtmlToken } from "./html-tokens";

export interface MarkdownPage {
  readonly markdown: string;
  /** Of the page, when it has one. */
  readonly title?: string;
}

/** `base` is where the page came from: links become absolute. */
export function htmlToMarkdown(html: string, base: URL): MarkdownPage {
  const writer = new MarkdownWriter(base);
  for (const token of tokenizeHtml(html)) writer.take(token);
  return writer.result();
}

const blocks = new Set(
  "address article aside body dd details div dl dt fieldset figcaption figure footer form header main nav p section summary table tbody thead tfoot".split(
    " "
  )
);

const marks: Readonly<Record<string, string>> = {
  strong: "**",
  b: "**",
  em: "_",
  i: "_",
  code: "`",
  kbd: "`"
};

const maxNesting = FETCH_TOOL_LIMITS.nesting;

class MarkdownWriter {
  readonly #base: URL;
  /** Finished pieces; the last line is still open. */
  readonly #out: string[] = [];
  #title: string | undefined;
  #inTitle = false;
  #pre = 0;
  #cells = 0;
  /** Line breaks owed before the next text. */
  #breaks = 0;
  #blank = false;
  readonly #lists: { readonly ordered: boolean; items: number }[] = [];
  #quotes = 0;
  readonly #links: (string | undefined)[] = [];

  constructor(base: URL) {
    this.#base = base;
  }

  take(token: HtmlToken): void {
    if (token.kind === "text") this.#text(decodeEntities(token.text));
    else if (token.kind === "open") this.#open(token.name, token.source);
    else this.#close(token.name);
  }

  result(): MarkdownPage {
    const markdown = this.#out.join("").trim();
    const title = this.#title?.replace(/\s+/g, " ").trim();
    return title ? { markdown, title: cutText(title, FETCH_TOOL_LIMITS.titleChars) } : { markdown };
  }

  #text(text: string): void {
    if (this.#inTitle) {
      this.#title = (this.#title ?? "") + text;
      return;
    }
    if (this.#pre > 0) {
      this.#write(text);
      return;
    }
    const folded = text.replace(/\s+/g, " ");
    if (folded.trim() === "") {
      this.#blank ||= folded !== "";
      return;
    }
    this.#blank ||= folded.startsWith(" ");
    this.#write(folded.trim());
    this.#blank = folded.endsWith(" ");
  }

  /** Puts the owed breaks and blanks, then the text. */
  #write(text: string): void {
    if (this.#breaks > 0 && this.#out.length > 0) this.#out.push("\n".repeat(this.#breaks));
    if (this.#breaks > 0 || this.#out.length === 0) this.#out.push("> ".repeat(this.#quotes));
    else if (this.#blank) this.#out.push(" ");
    this.#breaks = 0;
    this.#blank = false;
    this.#out.push(text);
  }

  #break(lines: number): void {
    // Cells are one line; so is what is inside a list item until the next item.
    if (this.#cells > 0) this.#blank = true;
    else this.#breaks = Math.max(this.#breaks, this.#lists.length > 0 ? 1 : lines);
  }

  #open(name: string, source: string): void {
    if (/^h[1-6]$/.test(name)) {
      this.#break(2);
      this.#mark(`${"#".repeat(Number(name[1]))} `);
    } else if (blocks.has(name)) this.#break(2);
    else if (name in marks && this.#pre === 0) this.#mark(marks[name] ?? "");
    else this.#openOther(name, source);
  }

  #openOther(name: string, source: string): void {
    switch (name) {
      case "title":
        this.#inTitle = this.#title === undefined;
        return;
      case "br":
        return this.#break(1);
      case "hr":
        this.#break(2);
        this.#write("---");
        return this.#break(2);
      case "pre":
        this.#break(2);
        if (this.#pre++ === 0) this.#write("```\n");
        return;
      case "blockquote":
        this.#break(2);
        this.#quotes = Math.min(this.#quotes + 1, maxNesting);
        return;
      case "ul":
      case "ol":
        this.#break(2);
        if (this.#lists.length < maxNesting) this.#lists.push({ ordered: name === "ol", items: 0 });
        return;
      case "li":
        return this.#item();
      case "tr":
        this.#break(1);
        return this.#write("|");
      case "td":
      case "th":
        this.#cells = 1;
        this.#blank = true;
        return;
      case "a":
        return this.#openLink(source);
      case "img":
        return this.#image(source);
    }
  }

  /** A mark that clings to the text behind it. */
  #mark(mark: string): void {
    this.#write(mark);
  }

  #item(): void {
    const list = this.#lists.at(-1) ?? { ordered: false, items: 0 };
    list.items++;
    this.#break(1);
    const indent = "  ".repeat(Math.max(this.#lists.length - 1, 0));
    this.#write(`${indent}${list.ordered ? `${list.items}.` : "-"} `);
  }

  #openLink(source: string): void {
    const target = this.#absolute(attribute(source, "href"));
    this.#links.push(target);
    if (target !== undefined) this.#write("[");
  }

  #image(source: string): void {
    const alt = attribute(source, "alt")?.replace(/\s+/g, " ").trim();
    const target = this.#absolute(attribute(source, "src"));
    if (alt && target !== undefined) this.#write(`![${alt}](${target})`);
  }

  /** Only addresses that could be fetched are worth a model's attention. */
  #absolute(reference: string | undefined): string | undefined {
    if (reference === undefined || reference.startsWith("#")) return undefined;
    try {
      const url = new URL(reference, this.#base);
      const usable = url.protocol === "https:" || url.protocol === "http:";
      return usable && url.href.length <= FETCH_TOOL_LIMITS.urlChars ? url.href : undefined;
    } catch {
      return undefined;
    }
  }

  #close(name: string): void {
    if (/^h[1-6]$/.test(name) || blocks.has(name)) return this.#break(2);
    if (name in marks && this.#pre === 0) {
      this.#out.push(marks[name] ?? "");
      return;
    }
    switch (name) {
      case "title":
        this.#inTitle = false;
        return;
      case "pre":
        if (this.#pre > 0 && --this.#pre === 0) this.#out.push("\n```");
        return this.#break(2);
      case "blockquote":
        this.#break(2);
        this.#quotes = Math.max(this.#quotes - 1, 0);
        return;
      case "ul":
      case "ol":
        this.#lists.pop();
        return this.#break(2);
      case "td":
      case "th":
        this.#cells = 0;
        this.#blank = false;
        this.#out.push(" |");
        return;
      case "a": {
        const target = this.#links.pop();
        if (target !== undefined) this.#out.push(`](${target})`);
      }
    }
  }
}
