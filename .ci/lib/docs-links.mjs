// Checks that the relative links of Markdown files lead somewhere.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { headingAnchors, relativeLinks } from "./markdown.mjs";

/**
 * @param {string} root
 * @param {string} file A Markdown file.
 * @returns {string[]} One sentence per broken link.
 */
export function brokenLinks(root, file) {
  const markdown = readFileSync(file, "utf8");
  return relativeLinks(markdown).flatMap(({ target, line }) => {
    const [name = "", anchor] = decodeURIComponent(target).split("#");
    const where = `${path.relative(root, file)}:${line}`;
    const full =
      name === ""
        ? file
        : name.startsWith("/")
          ? path.join(root, name)
          : path.resolve(path.dirname(file), name);
    if (!existsSync(full)) return [`${where} links to ${target}, which does not exist.`];
    if (anchor === undefined || anchor === "" || !full.endsWith(".md")) return [];
    if (headingAnchors(readFileSync(full, "utf8")).has(anchor)) return [];
    return [`${where} links to ${target}, but ${path.relative(root, full)} has no heading "#${anchor}".`];
  });
}
