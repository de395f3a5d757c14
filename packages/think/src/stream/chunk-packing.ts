/**
 * Many chunks in one stored row. Adjacent deltas of the same part become one delta, so rows and replay frames grow with the text
 * and not with the number of tokens. In a counted stream they become one delta with a list of texts: as small, but it unpacks to
 * exactly the chunks that were packed.
 *
 * I1. Unpacking gives chunks that build the same message as the chunks that were packed; in a counted stream, the same chunks.
 */
import type { UIMessageChunk } from "ai";
import { isRecord, parseStored } from "../shared/json";

interface Delta {
  readonly key: string;
  readonly field: "delta" | "inputTextDelta";
}

/** What a chunk adds to, when it does nothing but add text. */
function deltaOf(chunk: UIMessageChunk): Delta | undefined {
  switch (chunk.type) {
    case "text-delta":
    case "reasoning-delta":
      return chunk.providerMetadata === undefined
        ? { key: `${chunk.type}:${chunk.id}`, field: "delta" }
        : undefined;
    case "tool-input-delta":
      return { key: `${chunk.type}:${chunk.toolCallId}`, field: "inputTextDelta" };
    default:
      return undefined;
  }
}

/** Collects chunks until they are packed into one row. */
export class ChunkPack {
  #chunks: Record<string, unknown>[] = [];
  #tailKey: string | undefined;
  #chars = 0;
  #count = 0;
  readonly #isCounted: boolean;

  /** `counted` is for streams whose clients count single chunks. Default: false. */
  constructor(options: { readonly counted?: boolean } = {}) {
    this.#isCounted = options.counted ?? false;
  }

  /** Chunks since the last `clear`. */
  get count(): number {
    return this.#count;
  }

  /** Size of the packed text so far, in UTF-16 code units (close enough to decide when to write). */
  get chars(): number {
    return this.#chars;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Adds a chunk; `jsonChars` is the length of its JSON text. */
  add(chunk: UIMessageChunk, jsonChars: number): void {
    const delta = deltaOf(chunk);
    const tail = this.#chunks.at(-1);
    this.#count += 1;
    if (delta && tail && delta.key === this.#tailKey) {
      const text = (chunk as unknown as Record<string, string>)[delta.field] ?? "";
      this.#extend(tail, delta.field, text);
      this.#chars += text.length;
      return;
    }
    this.#chunks.push({ ...chunk });
    this.#tailKey = delta?.key;
    this.#chars += jsonChars;
  }

  /** The chunks as one row body. */
  pack(): string {
    return JSON.stringify(this.#chunks);
  }

  chunks(): readonly UIMessageChunk[] {
    return this.#isCounted ? this.#chunks.flatMap(single) : (this.#chunks as unknown as UIMessageChunk[]);
  }

  clear(): void {
    this.#chunks = [];
    this.#tailKey = undefined;
    this.#chars = 0;
    this.#count = 0;
  }

  #extend(tail: Record<string, unknown>, field: Delta["field"], text: string): void {
    const texts = tail[field];
    if (!this.#isCounted) tail[field] = `${texts as string}${text}`;
    else if (Array.isArray(texts)) texts.push(text);
    else tail[field] = [texts, text];
  }
}

/** A delta with a list of texts -> one delta per text; every other chunk as it is. */
function single(chunk: Record<string, unknown>): UIMessageChunk[] {
  const field = Array.isArray(chunk.delta) ? "delta" : "inputTextDelta";
  const texts: unknown = chunk[field];
  const isGroup = typeof chunk.type === "string" && chunk.type.endsWith("-delta") && Array.isArray(texts);
  const chunks = isGroup ? texts.map((text: unknown) => ({ ...chunk, [field]: text })) : [chunk];
  return chunks as unknown as UIMessageChunk[];
}

/** The chunks of one stored row: a list, a list of JSON texts, or a single chunk (older layouts). Damage yields none. */
export function unpackChunks(body: string): UIMessageChunk[] {
  const stored = parseStored(body);
  const items: readonly unknown[] = Array.isArray(stored) ? stored : [stored];
  const chunks = items.map((item) => (typeof item === "string" ? parseStored(item) : item));
  return chunks.filter(isRecord).flatMap(single);
}

/** Merges adjacent deltas across rows, for replay. */
export function mergeChunks(chunks: Iterable<UIMessageChunk>): readonly UIMessageChunk[] {
  const pack = new ChunkPack();
  for (const chunk of chunks) pack.add(chunk, 0);
  return pack.chunks();
}
