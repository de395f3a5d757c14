/**
 * The model's tools for context blocks. Built anew for each turn from the blocks there are; a tool without a block to use it on is
 * not offered. Whatever goes wrong comes back as text, so that the model can read it and the turn goes on.
 */
import type { ToolSet } from "ai";
import { z } from "zod";
import { errorText } from "../../shared/errors/error-text";
import { CONTEXT_LIMITS } from "../../shared/limits";
import type { ContextBlock } from "./block";
import { entryKey } from "./entry-key";
import { usageOf } from "./render";
import { LOAD_TOOL, UNLOAD_TOOL } from "./skill-results";

/** What the tools do, declared here and done by `ContextBlocks`. */
export interface ContextActions {
  replaceContextBlock(label: string, content: string): Promise<ContextBlock>;
  appendContextBlock(label: string, text: string): Promise<ContextBlock>;
  setContextEntry(label: string, key: string, content: string, description?: string): Promise<ContextBlock>;
  loadSkill(label: string, key: string): Promise<string | null>;
  unloadSkill(label: string, key: string): boolean;
  searchContext(label: string, query: string): Promise<string | null>;
  getLoadedSkillKeys(): ReadonlySet<string>;
}

const isKeyed = ({ isSkill, isSearchable }: ContextBlock) => isSkill || isSearchable;

export function createContextTools(blocks: readonly ContextBlock[], actions: ContextActions): ToolSet {
  const writable = blocks.filter((block) => block.writable);
  const skills = blocks.filter((block) => block.isSkill);
  const searchable = blocks.filter((block) => block.isSearchable);
  return {
    ...(writable.length > 0 ? { set_context: setTool(writable, actions) } : {}),
    ...(skills.length > 0
      ? { [LOAD_TOOL]: loadTool(skills, actions), [UNLOAD_TOOL]: unloadTool(skills, actions) }
      : {}),
    ...(searchable.length > 0 ? { search_context: searchTool(searchable, actions) } : {})
  };
}

function setTool(blocks: readonly ContextBlock[], actions: ContextActions): ToolSet[string] {
  const hasKeys = blocks.some(isKeyed);
  const metadata = z
    .object({ title: z.string().optional(), description: z.string().optional() })
    .describe("For blocks that keep many texts: the title names the text, and the same title replaces it");
  const keyed = new Set(blocks.filter(isKeyed).map(({ label }) => label));
  const inputSchema = z.object({
    label: labelSchema(blocks),
    content: z.string().describe("The text to write"),
    action: z.enum(["replace", "append"]).optional().describe("replace (default) or append"),
    ...(hasKeys ? { metadata: metadata.optional() } : {})
  });
  // Without keys the schema drops the field, so the wider type is right for both.
  const parser = inputSchema as z.ZodType<{
    label: string;
    content: string;
    action?: "replace" | "append" | undefined;
    metadata?: z.infer<typeof metadata> | undefined;
  }>;
  return textTool({
    description: `Write to a context block, which stays with you across conversations. Blocks:\n${listing(blocks)}`,
    inputSchema: parser,
    async run({ label, content, action, metadata: about }) {
      if (keyed.has(label)) {
        const title = about?.title?.slice(0, CONTEXT_LIMITS.titleChars);
        const key = entryKey(content, title);
        await actions.setContextEntry(label, key, content, about?.description ?? title);
        return `Indexed "${key}" in ${label}`;
      }
      const write = action === "append" ? "appendContextBlock" : "replaceContextBlock";
      return `Written to ${label}. Usage: ${usageOf(await actions[write](label, content))}`;
    }
  });
}

function loadTool(blocks: readonly ContextBlock[], actions: ContextActions): ToolSet[string] {
  return textTool({
    description: `Load a text into the conversation by its key, as the prompt lists it. Blocks:\n${listing(blocks)}`,
    inputSchema: z.object({ label: labelSchema(blocks), key: z.string().describe("The key of the text") }),
    async run({ label, key }) {
      const text = await actions.loadSkill(label, key);
      if (text === null) return `Not found: "${key}" in ${label}`;
      return cut(text, CONTEXT_LIMITS.loadedChars);
    }
  });
}

function unloadTool(blocks: readonly ContextBlock[], actions: ContextActions): ToolSet[string] {
  const loaded = [...actions.getLoadedSkillKeys()];
  return textTool({
    description:
      "Take a loaded text out of the conversation when you no longer need it; it can be loaded again. " +
      `Loaded now: ${loaded.join(", ") || "nothing"}`,
    inputSchema: z.object({ label: labelSchema(blocks), key: z.string().describe("The key of the text") }),
    async run({ label, key }) {
      if (actions.unloadSkill(label, key)) return `Unloaded "${key}" from ${label}`;
      const now = [...actions.getLoadedSkillKeys()].join(", ");
      return `Error: "${key}" of ${label} is not currently loaded. Loaded: ${now || "nothing"}`;
    }
  });
}

function searchTool(blocks: readonly ContextBlock[], actions: ContextActions): ToolSet[string] {
  return textTool({
    description: `Search a context block; every word must occur. Blocks:\n${listing(blocks)}`,
    inputSchema: z.object({ label: labelSchema(blocks), query: z.string().describe("Words to look for") }),
    async run({ label, query }) {
      const found = await actions.searchContext(label, query);
      return found ? cut(found, CONTEXT_LIMITS.searchResultChars) : "No results found";
    }
  });
}

function labelSchema(blocks: readonly ContextBlock[]): z.ZodString {
  return z.string().describe(`The block: ${blocks.map(({ label }) => JSON.stringify(label)).join(" or ")}`);
}

/** Labels and descriptions only: what changes from turn to turn would spoil the provider's prompt cache. */
function listing(blocks: readonly ContextBlock[]): string {
  return blocks
    .map(({ label, description }) => (description ? `- ${label}: ${description}` : `- ${label}`))
    .join("\n");
}

function cut(text: string, chars: number): string {
  return text.length <= chars
    ? text
    : `${text.slice(0, chars)}\n[cut: ${text.length - chars} more characters]`;
}

export interface TextTool<Input> {
  readonly description: string;
  readonly inputSchema: z.ZodType<Input>;
  run(input: Input): Promise<string>;
}

/** A tool that answers with text, errors too. Checks the input itself, because an input that a hook substitutes comes unchecked. */
export function textTool<Input>({ description, inputSchema, run }: TextTool<Input>): ToolSet[string] {
  return {
    description,
    inputSchema,
    async execute(input: unknown) {
      const parsed = inputSchema.safeParse(input);
      if (!parsed.success) return `Error: ${z.prettifyError(parsed.error)}`;
      try {
        return await run(parsed.data);
      } catch (error) {
        return `Error: ${errorText(error)}`;
      }
    }
  };
}
