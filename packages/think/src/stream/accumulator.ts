/**
 * UI message chunks -> the assistant message they describe. Used by the running turn and to rebuild a message from a stored
 * stream, so both give the same result.
 *
 * I1. `parts` is always a valid message body: a snapshot may be taken after any chunk.
 * I2. A settled tool part (output available, error or denied) never goes back to an earlier state.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import { isRecord } from "../shared/json";
import { toolInput } from "../shared/tool-input";

/** A tool part of a message. */
type ToolPart = Extract<UIMessage["parts"][number], { readonly toolCallId: string; readonly state: string }>;

type Part = { type: string } & Record<string, unknown>;

/** What a chunk meant beyond its effect on the message. */
export type ChunkEffect =
  | { readonly kind: "applied" }
  /** A tool outcome for a call that is not in this message: it belongs to an earlier one. */
  | { readonly kind: "foreign-tool"; readonly toolCallId: string };

const APPLIED: ChunkEffect = { kind: "applied" };

const SETTLED: ReadonlySet<unknown> = new Set(["output-available", "output-error", "output-denied"]);

export class MessageAccumulator {
  #id: string;
  readonly #keepId: boolean;
  readonly #parts: Part[] = [];
  #metadata: Record<string, unknown> | undefined;
  readonly #tools = new Map<string, Part>();
  /** The open part of each streamed kind; deltas without a start open one. */
  readonly #open = new Map<string, Part>();

  /** `keepId`: the message keeps its id whatever the provider says, so that a continuation cannot replace an earlier message. */
  constructor(id: string, { keepId = false }: { readonly keepId?: boolean } = {}) {
    this.#id = id;
    this.#keepId = keepId;
  }

  get id(): string {
    return this.#id;
  }

  /** Whether there is nothing worth storing: step marks alone say nothing. */
  get isEmpty(): boolean {
    return this.#parts.every((part) => part.type === "step-start");
  }

  /** The message so far. Shares its parts with the accumulator until `apply` is called again. */
  snapshot(): UIMessage {
    // The chunk types are the AI SDK's; the parts built from them are its message parts.
    const parts = this.#parts as unknown as UIMessage["parts"];
    return {
      id: this.#id,
      role: "assistant",
      parts: [...parts],
      ...(this.#metadata ? { metadata: this.#metadata } : {})
    };
  }

  /** Ends what is still open: a turn that stopped in mid-sentence must not look as if it were still typing. */
  close(): void {
    for (const part of this.#open.values()) part.state = "done";
    this.#open.clear();
  }

  /**
   * Changes the part of a tool call from outside the stream, such as by a client's answer. Returns the new part, or undefined when the
   * call is not in this message or `change` gave the same part back.
   */
  updateTool(toolCallId: string, change: (part: ToolPart) => ToolPart): ToolPart | undefined {
    const part = this.#tools.get(toolCallId);
    if (!part) return undefined;
    // Built from the AI SDK's chunks, it is one of its tool parts.
    const current = part as unknown as ToolPart;
    const changed = change(current);
    if (changed === current) return undefined;
    // Replaced, not modified: an earlier snapshot shares the old part.
    const replacement = changed as unknown as Part;
    this.#parts[this.#parts.indexOf(part)] = replacement;
    this.#tools.set(toolCallId, replacement);
    return changed;
  }

  apply(chunk: UIMessageChunk): ChunkEffect {
    switch (chunk.type) {
      case "text-start":
      case "reasoning-start":
        this.#openPart(chunk.type === "text-start" ? "text" : "reasoning", chunk);
        return APPLIED;
      case "text-delta":
      case "reasoning-delta":
        this.#appendDelta(chunk.type === "text-delta" ? "text" : "reasoning", chunk);
        return APPLIED;
      case "text-end":
      case "reasoning-end":
        this.#closePart(chunk.type === "text-end" ? "text" : "reasoning", chunk);
        return APPLIED;
      case "start":
        if (chunk.messageId && !this.#keepId) this.#id = chunk.messageId;
        this.#mergeMetadata(chunk.messageMetadata);
        return APPLIED;
      case "finish":
      case "message-metadata":
        this.#mergeMetadata(chunk.messageMetadata);
        return APPLIED;
      case "start-step":
        this.#parts.push({ type: "step-start" });
        return APPLIED;
      case "file":
      case "source-url":
      case "source-document":
        this.#parts.push({ ...chunk });
        return APPLIED;
      default:
        if (chunk.type.startsWith("data-")) return this.#applyData(chunk);
        return chunk.type.startsWith("tool-") ? this.#applyTool(chunk) : APPLIED;
    }
  }

  #openPart(type: "text" | "reasoning", chunk: { readonly id: string }): Part {
    const part: Part = { type, text: "", state: "streaming", ...metadataOf(chunk) };
    this.#parts.push(part);
    this.#open.set(`${type}:${chunk.id}`, part);
    return part;
  }

  #appendDelta(type: "text" | "reasoning", chunk: { readonly id: string; readonly delta: string }): void {
    const part = this.#open.get(`${type}:${chunk.id}`) ?? this.#openPart(type, chunk);
    part.text = `${part.text as string}${chunk.delta}`;
    mergeProviderMetadata(part, chunk);
  }

  #closePart(type: "text" | "reasoning", chunk: { readonly id: string }): void {
    const part = this.#open.get(`${type}:${chunk.id}`);
    if (part) {
      part.state = "done";
      mergeProviderMetadata(part, chunk);
    }
    this.#open.delete(`${type}:${chunk.id}`);
  }

  #mergeMetadata(metadata: unknown): void {
    if (isRecord(metadata)) this.#metadata = { ...this.#metadata, ...metadata };
  }

  #applyData(chunk: Part): ChunkEffect {
    if (chunk.transient === true) return APPLIED;
    const same =
      chunk.id === undefined
        ? undefined
        : this.#parts.find((part) => part.type === chunk.type && part.id === chunk.id);
    if (same) same.data = chunk.data;
    else
      this.#parts.push({
        type: chunk.type,
        ...(chunk.id === undefined ? {} : { id: chunk.id }),
        data: chunk.data
      });
    return APPLIED;
  }

  #applyTool(chunk: Part): ChunkEffect {
    const toolCallId = String(chunk.toolCallId);
    const part = this.#tools.get(toolCallId);
    switch (chunk.type) {
      case "tool-input-start":
        if (!part) this.#pushTool(chunk, { state: "input-streaming" });
        return APPLIED;
      case "tool-input-available":
        if (!part) this.#pushTool(chunk, { state: "input-available", input: toolInput(chunk.input) });
        else if (part.state === "input-streaming") {
          Object.assign(
            part,
            { state: "input-available", input: toolInput(chunk.input) },
            callMetadataOf(chunk)
          );
        }
        return APPLIED;
      case "tool-input-error":
        this.#failInput(part, chunk);
        return APPLIED;
      case "tool-approval-request":
        if (part && !SETTLED.has(part.state))
          Object.assign(part, { state: "approval-requested", approval: { id: chunk.approvalId } });
        return APPLIED;
      case "tool-output-available":
        if (!part) return { kind: "foreign-tool", toolCallId };
        if (part.state === "output-available" && part.preliminary !== true) return APPLIED;
        Object.assign(part, { state: "output-available", output: chunk.output });
        if (chunk.preliminary === undefined) delete part.preliminary;
        else part.preliminary = chunk.preliminary;
        return APPLIED;
      case "tool-output-error":
        if (!part) return { kind: "foreign-tool", toolCallId };
        if (!SETTLED.has(part.state) || part.preliminary === true) {
          delete part.preliminary;
          Object.assign(part, { state: "output-error", errorText: chunk.errorText });
        }
        return APPLIED;
      case "tool-output-denied":
        if (part && !SETTLED.has(part.state)) part.state = "output-denied";
        return APPLIED;
      default:
        return APPLIED;
    }
  }

  #failInput(part: Part | undefined, chunk: Part): void {
    const failed = { state: "output-error", input: toolInput(chunk.input), errorText: chunk.errorText };
    if (!part) this.#pushTool(chunk, failed);
    else if (!SETTLED.has(part.state)) Object.assign(part, failed);
  }

  #pushTool(chunk: Part, fields: Record<string, unknown>): void {
    const name = String(chunk.toolName);
    const identity =
      chunk.dynamic === true ? { type: "dynamic-tool", toolName: name } : { type: `tool-${name}` };
    const part: Part = {
      ...identity,
      toolCallId: chunk.toolCallId,
      ...pick(chunk, "providerExecuted", "title"),
      ...callMetadataOf(chunk),
      ...fields
    };
    this.#tools.set(String(chunk.toolCallId), part);
    this.#parts.push(part);
  }
}

function metadataOf(chunk: object): Record<string, unknown> {
  return "providerMetadata" in chunk && chunk.providerMetadata !== undefined
    ? { providerMetadata: chunk.providerMetadata }
    : {};
}

/** Providers tell their facts about a part bit by bit, such as a signature at its end. */
function mergeProviderMetadata(part: Part, chunk: object): void {
  const { providerMetadata } = metadataOf(chunk);
  if (providerMetadata === undefined) return;
  const known = part.providerMetadata;
  part.providerMetadata =
    isRecord(known) && isRecord(providerMetadata) ? { ...known, ...providerMetadata } : providerMetadata;
}

function callMetadataOf(chunk: Part): Record<string, unknown> {
  return chunk.providerMetadata === undefined ? {} : { callProviderMetadata: chunk.providerMetadata };
}

function pick(chunk: Part, ...keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => chunk[key] !== undefined).map((key) => [key, chunk[key]]));
}
