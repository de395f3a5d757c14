/**
 * Skills in an R2 bucket: one object per skill, its description in the custom metadata. The prompt has the listing.
 */
import { ThinkError } from "../../shared/errors/think-error";
import { CONTEXT_LIMITS } from "../../shared/limits";
import type { SkillProvider } from "./provider";

/** The part of an R2 bucket that is used; a binding fits. */
export interface SkillBucket {
  list(options: { prefix: string; cursor?: string; include: "customMetadata"[] }): Promise<{
    readonly objects: readonly { readonly key: string; readonly customMetadata?: Record<string, string> }[];
    readonly truncated: boolean;
    readonly cursor?: string;
  }>;
  get(key: string): Promise<{ readonly size: number; text(): Promise<string> } | null>;
  put(key: string, value: string, options: { customMetadata: Record<string, string> }): Promise<unknown>;
}

export interface R2SkillOptions {
  /** Keys of the listing are relative to it. Default: "", the whole bucket. */
  readonly prefix?: string | undefined;
  /** The only skills that are listed and loaded. Default, and with an empty list: all. */
  readonly keys?: readonly string[] | undefined;
}

export class R2SkillProvider implements SkillProvider {
  readonly #bucket: SkillBucket;
  readonly #prefix: string;
  readonly #keys: ReadonlySet<string>;

  constructor(bucket: SkillBucket, { prefix = "", keys = [] }: R2SkillOptions = {}) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#keys = new Set(keys);
  }

  async get(): Promise<string | null> {
    const lines: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < CONTEXT_LIMITS.listPages; page += 1) {
      const found = await this.#bucket.list({
        prefix: this.#prefix,
        include: ["customMetadata"],
        ...(cursor === undefined ? {} : { cursor })
      });
      for (const { key, customMetadata } of found.objects) {
        const name = key.slice(this.#prefix.length);
        if (this.#allows(name)) lines.push(lineOf(name, customMetadata?.description));
      }
      cursor = found.truncated ? found.cursor : undefined;
      if (cursor === undefined || lines.length >= CONTEXT_LIMITS.listedSkills) break;
    }
    const rest = cursor !== undefined || lines.length > CONTEXT_LIMITS.listedSkills;
    const listed = lines.slice(0, CONTEXT_LIMITS.listedSkills);
    if (rest) listed.push("(the listing ends here; there are more)");
    return listed.length === 0 ? null : listed.join("\n");
  }

  async load(key: string): Promise<string | null> {
    if (!this.#allows(key)) return null;
    const object = await this.#bucket.get(this.#prefix + key);
    if (!object) return null;
    if (object.size > CONTEXT_LIMITS.skillBytes) {
      throw new ThinkError(
        `It has ${object.size} bytes; at most ${CONTEXT_LIMITS.skillBytes} can be loaded.`,
        {
          code: "context-too-large"
        }
      );
    }
    return object.text();
  }

  async set(key: string, content: string, description?: string): Promise<void> {
    const text = description === undefined ? "" : oneLine(description);
    await this.#bucket.put(this.#prefix + key, content, {
      customMetadata: text ? { description: text } : {}
    });
  }

  /** The empty name is the prefix itself, which tools for folders leave behind. */
  #allows(name: string): boolean {
    return name !== "" && (this.#keys.size === 0 || this.#keys.has(name));
  }
}

function lineOf(name: string, description: string | undefined): string {
  const text = description === undefined ? "" : oneLine(description);
  return text ? `- ${oneLine(name)}: ${text}` : `- ${oneLine(name)}`;
}

/** A line break in a description would be a line of its own in the prompt. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, CONTEXT_LIMITS.skillDescriptionChars);
}
