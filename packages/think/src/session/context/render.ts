/**
 * The prompt made of context blocks. The same blocks give the same bytes, whatever order they were loaded in: model providers cache
 * the beginning of a prompt, and one changed byte costs the whole conversation again.
 */
import type { ContextBlock } from "./block";

const RULE = "═".repeat(46);

/** Content must not look like the heading of another block: a model writes some of it, and a heading says what may be trusted. */
const fakeRule = new RegExp(`${RULE}+`, "g");
const lineBreaks = /\s*[\r\n\u2028\u2029]+\s*/g;

export function renderBlocks(blocks: readonly ContextBlock[]): string {
  return blocks
    .filter((block) => block.content !== "" || tagOf(block) !== "[readonly]")
    .map((block) => [RULE, headerOf(block), RULE, block.content.replace(fakeRule, RULE.slice(1))].join("\n"))
    .join("\n\n");
}

function headerOf(block: ContextBlock): string {
  const description = block.description?.replace(lineBreaks, " ");
  return [
    block.label.toUpperCase(),
    ...(description ? [`(${description})`] : []),
    ...(block.maxTokens ? [`[${usageOf(block)}]`] : []),
    tagOf(block)
  ].join(" ");
}

/** `12% — 240/2000 tokens`, or `240 tokens` for a block without a budget. */
export function usageOf({ tokens, maxTokens }: Pick<ContextBlock, "tokens" | "maxTokens">): string {
  if (!maxTokens) return `${tokens} tokens`;
  return `${Math.round((tokens / maxTokens) * 100)}% — ${tokens}/${maxTokens} tokens`;
}

function tagOf({ isSearchable, isSkill, writable }: ContextBlock): string {
  if (isSearchable) return "[searchable]";
  if (isSkill) return "[loadable]";
  return writable ? "[writable]" : "[readonly]";
}
