// Finds code blocks and links in Markdown. Pure.

/**
 * @typedef {object} CodeBlock
 * @property {"ts" | "tsx"} language
 * @property {boolean} checked False when the info string says `no-check`.
 * @property {string | undefined} file The name given by `file=...`; blocks of one document can import each other by it.
 * @property {number} line Line of the first line of code, counted from 1.
 * @property {string} code
 *
 * @typedef {object} Link
 * @property {string} target
 * @property {number} line
 */

/**
 * Splits a document into fenced blocks and the lines between them.
 *
 * @param {string} markdown
 */
function scan(markdown) {
  /** @type {{ info: string, line: number, lines: string[] }[]} */
  const blocks = [];
  /** @type {{ text: string, line: number }[]} */
  const prose = [];
  /** @type {{ fence: string, indent: number, info: string, line: number, lines: string[] } | undefined} */
  let open;
  for (const [index, text] of markdown.split(/\r?\n/).entries()) {
    const fence = /^(\s*)(`{3,}|~{3,})\s*(.*)$/.exec(text);
    if (open === undefined) {
      if (fence === null) prose.push({ text, line: index + 1 });
      else
        open = {
          fence: fence[2] ?? "",
          indent: fence[1]?.length ?? 0,
          info: fence[3] ?? "",
          line: index + 2,
          lines: []
        };
    } else if (fence !== null && fence[3] === "" && fence[2]?.startsWith(open.fence)) {
      blocks.push(open);
      open = undefined;
    } else {
      open.lines.push(text.slice(Math.min(open.indent, text.length - text.trimStart().length)));
    }
  }
  return { blocks, prose };
}

/**
 * The TypeScript blocks of a document.
 *
 * @param {string} markdown
 * @returns {CodeBlock[]}
 */
export function codeBlocks(markdown) {
  return scan(markdown).blocks.flatMap(({ info, line, lines }) => {
    const [language, ...words] = info.split(/\s+/);
    if (language !== "ts" && language !== "tsx" && language !== "typescript") return [];
    return [
      {
        language: language === "tsx" ? /** @type {const} */ ("tsx") : /** @type {const} */ ("ts"),
        checked: !words.includes("no-check"),
        file: words.find((word) => word.startsWith("file="))?.slice("file=".length),
        line,
        code: lines.join("\n")
      }
    ];
  });
}

/**
 * The links and images of a document that point to files of the repository.
 *
 * @param {string} markdown
 * @returns {Link[]}
 */
export function relativeLinks(markdown) {
  return scan(markdown).prose.flatMap(({ text, line }) => {
    const plain = text.replace(/`[^`]*`/g, "");
    const targets = [
      ...plain.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:src|href)="([^"]+)"|^\s*\[[^\]]+\]:\s*(\S+)/g)
    ];
    return targets
      .map((match) => match[1] ?? match[2] ?? match[3] ?? "")
      .filter((target) => target !== "" && !/^(?:[a-z][a-z+.-]*:|\/\/)/i.test(target))
      .map((target) => ({ target, line }));
  });
}

/**
 * The anchors that headings of a document define, as GitHub makes them.
 *
 * @param {string} markdown
 */
export function headingAnchors(markdown) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return new Set(
    scan(markdown).prose.flatMap(({ text }) => {
      const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)?.[1];
      if (heading === undefined) return [];
      const slug = heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-");
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return [count === 0 ? slug : `${slug}-${count}`];
    })
  );
}
