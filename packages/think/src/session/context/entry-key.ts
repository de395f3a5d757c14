/**
 * Keys for texts that a model writes into a block with keys. The same title gives the same key, so that a text can be replaced;
 * different titles give different keys, also where a slug alone would not tell them apart.
 */
import { CONTEXT_LIMITS } from "../../shared/limits";
import { textHash } from "../text-hash";

/** A letter or digit that a slug drops. */
const dropped = /(?!\p{ASCII})[\p{L}\p{N}\p{M}]/u;

/** The key for a text with this title, or without one. */
export function entryKey(content: string, title?: string): string {
  const name = title?.trim() ?? "";
  if (name === "") return `${slugOf(content) || "entry"}-${textHash(content)}`;
  const slug = slugOf(name);
  if (slug === "") return `entry-${textHash(name)}`;
  // Two long titles, or two that differ in what a slug cannot say, must not overwrite each other.
  const isWhole = name.length <= CONTEXT_LIMITS.slugChars && !dropped.test(name);
  return isWhole ? slug : `${slug}-${textHash(name)}`;
}

function slugOf(text: string): string {
  return text
    .slice(0, CONTEXT_LIMITS.slugChars)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}
