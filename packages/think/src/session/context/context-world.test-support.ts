/** A world for the tests of context blocks: providers in memory that count their calls, and a history that can be rewritten. */
import type { ToolSet, UIMessage } from "ai";
import { ContextBlocks, type ContextBlocksOptions } from "./context-blocks";
import type { SearchProvider, SkillProvider, WritableContextProvider } from "./provider";

export interface MemoryBlock extends WritableContextProvider {
  content: string | null;
  readonly calls: string[];
}

export function memoryBlock(content: string | null = null): MemoryBlock {
  const calls: string[] = [];
  return {
    content,
    calls,
    init: (label) => void calls.push(`init ${label}`),
    async get() {
      calls.push("get");
      return this.content;
    },
    async set(next) {
      calls.push(`set ${next}`);
      await Promise.resolve();
      this.content = next;
    }
  };
}

export function skills(
  texts: Record<string, string>
): SkillProvider & { readonly texts: Record<string, string> } {
  return {
    texts,
    get: () =>
      Object.keys(texts)
        .map((key) => `- ${key}`)
        .join("\n") || null,
    load: (key) => texts[key] ?? null,
    set(key, content) {
      texts[key] = content;
    }
  };
}

export function searchable(texts: Record<string, string>): SearchProvider {
  return {
    get: () => `${Object.keys(texts).length} entries indexed.`,
    search: (query) => Object.values(texts).find((text) => text.includes(query)) ?? null,
    set(key, content) {
      texts[key] = content;
    }
  };
}

/** A history in memory; `rewritten` counts the writes. */
export function memoryHistory(messages: UIMessage[] = []) {
  return {
    messages,
    rewritten: 0,
    reads: 0,
    loadResults() {
      this.reads += 1;
      return [...this.messages];
    },
    rewrite(message: UIMessage) {
      this.rewritten += 1;
      this.messages = this.messages.map((known) => (known.id === message.id ? message : known));
    }
  };
}

export function open(options: Partial<ContextBlocksOptions> = {}): ContextBlocks {
  return new ContextBlocks({ blocks: [], history: memoryHistory(), ...options });
}

export function promptStore(initial: string | null = null) {
  return {
    text: initial,
    writes: 0,
    get() {
      return this.text;
    },
    set(text: string) {
      this.writes += 1;
      this.text = text;
    }
  };
}

/** Calls a tool as the SDK would. */
export async function call(tools: ToolSet, name: string, input: unknown): Promise<unknown> {
  const tool = tools[name];
  if (!tool?.execute) throw new Error(`There is no tool ${name}.`);
  return tool.execute(input as never, { toolCallId: "call", messages: [] } as never) as Promise<unknown>;
}

let calls = 0;

/** An assistant message with one settled tool call, with the tool's name in the type or beside it. */
export function toolMessage(
  name: string,
  input: unknown,
  output: unknown,
  { id, dynamic = false, state = "output-available" }: { id?: string; dynamic?: boolean; state?: string } = {}
): UIMessage {
  calls += 1;
  const head = dynamic ? { type: "dynamic-tool", toolName: name } : { type: `tool-${name}` };
  const part = { ...head, toolCallId: `call-${calls}`, state, input, output };
  return { id: id ?? `message-${calls}`, role: "assistant", parts: [part as UIMessage["parts"][number]] };
}
