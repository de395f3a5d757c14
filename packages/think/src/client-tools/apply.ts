/**
 * Puts answers and late outcomes of tools where the calls are: into the message that is being streamed, or into a stored one.
 *
 * I1. Everything is synchronous: an update is applied, stored and told before the next frame is looked at, so updates apply in the
 *     order of arrival and a failing one cannot hold up the next.
 * I2. A call that the running turn executes on the server, or that was given to another agent, is answered by the server alone: a client's answer is not taken.
 * I3. Nothing changed: nothing is written and nobody is told. Otherwise everyone is told once, the sender included.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import type { ToolPart } from "../session/parts";
import type { MessageAccumulator } from "../stream/accumulator";
import { updateMessage, updateToolPart, type ToolUpdate } from "./tool-updates";

export interface ToolUpdatesHost {
  /** The message that is being streamed. */
  readonly live: () => MessageAccumulator | undefined;
  /** Whether the server answers a call: the turn that is being streamed executes it, or it was given to another agent. */
  readonly isServers: (part: ToolPart) => boolean;
  /** Writes a chunk to the running stream without sending it. */
  readonly record: (chunk: UIMessageChunk) => void;
  readonly messages: StoredMessages;
  /** Makes a stored message of what an earlier isolate had streamed, if that holds the call. */
  readonly settleOrphan: (toolCallId: string) => void;
  /** Tells every client that a message has changed. */
  readonly broadcast: (message: UIMessage) => void;
}

/** The part of the conversation that is needed here. */
export interface StoredMessages {
  readonly messages: readonly UIMessage[];
  /** Whether there are more messages in storage than in `messages`. */
  readonly windowed: boolean;
  withToolCall(toolCallId: string): UIMessage | undefined;
  /** Returns the message as stored. */
  update(message: UIMessage): UIMessage | undefined;
}

export class ToolUpdates {
  readonly #host: ToolUpdatesHost;

  constructor(host: ToolUpdatesHost) {
    this.#host = host;
  }

  /** Returns whether anything changed. */
  apply(toolCallId: string, update: ToolUpdate): boolean {
    const updated = this.#updateLive(toolCallId, update) ?? this.#updateStored(toolCallId, update);
    if (!updated) return false;
    this.#host.broadcast(updated);
    return true;
  }

  /** A continuation's stream brought the outcome of a call in an earlier message. */
  applyLate(chunk: UIMessageChunk): void {
    if (chunk.type === "tool-output-available") {
      const { output, preliminary } = chunk;
      this.apply(chunk.toolCallId, { kind: "late-output", output, preliminary });
    } else if (chunk.type === "tool-output-error") {
      this.apply(chunk.toolCallId, { kind: "late-failure", errorText: chunk.errorText });
    }
  }

  #updateLive(toolCallId: string, update: ToolUpdate): UIMessage | undefined {
    const live = this.#host.live();
    const part = live?.updateTool(toolCallId, (current) =>
      this.#isTaken(current, update) ? current : updateToolPart(current, update)
    );
    if (!live || !part) return undefined;
    const chunk = outcomeChunk(part);
    if (chunk) this.#host.record(chunk);
    return live.snapshot();
  }

  #updateStored(toolCallId: string, update: ToolUpdate): UIMessage | undefined {
    const updated = this.#findStored(toolCallId, update) ?? this.#findOrphaned(toolCallId, update);
    // A preliminary output is shown, but must not pass for the outcome after a restart.
    if (!updated || (update.kind === "late-output" && update.preliminary === true)) return updated;
    return this.#host.messages.update(updated);
  }

  /** The call may be in a stream whose isolate is gone: its client was connected all along and does not know. */
  #findOrphaned(toolCallId: string, update: ToolUpdate): UIMessage | undefined {
    if (this.#host.live()) return undefined;
    this.#host.settleOrphan(toolCallId);
    return this.#findStored(toolCallId, update);
  }

  #isTaken(part: ToolPart, update: ToolUpdate): boolean {
    return ANSWERS.has(update.kind) && EXECUTING.has(part.state) && this.#host.isServers(part);
  }

  /** Providers reuse call ids across turns, so the first message that the update changes counts, not the first with the id. */
  #findStored(toolCallId: string, update: ToolUpdate): UIMessage | undefined {
    const { messages } = this.#host;
    const outside = messages.windowed ? messages.withToolCall(toolCallId) : undefined;
    const change = (part: ToolPart) => (this.#isTaken(part, update) ? part : updateToolPart(part, update));
    const early = outside && updateMessage(outside, toolCallId, change);
    if (early) return early;
    for (const message of messages.messages) {
      const updated = updateMessage(message, toolCallId, change);
      if (updated) return updated;
    }
    return undefined;
  }
}

/** What clients may say. */
const ANSWERS: ReadonlySet<ToolUpdate["kind"]> = new Set(["result", "failure", "approval"]);

/** States in which a server tool is running, or about to; one that asks for approval is not. */
const EXECUTING: ReadonlySet<string> = new Set(["input-available", "approval-responded"]);

/** The chunk a server tool would have produced, so that joining clients and a rebuilt message have the outcome. */
function outcomeChunk(part: ToolPart): UIMessageChunk | undefined {
  const { toolCallId } = part;
  switch (part.state) {
    case "output-available":
      return { type: "tool-output-available", toolCallId, output: part.output };
    case "output-error":
      return { type: "tool-output-error", toolCallId, errorText: part.errorText };
    case "output-denied":
      return { type: "tool-output-denied", toolCallId };
    default:
      return undefined;
  }
}
