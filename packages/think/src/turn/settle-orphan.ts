/**
 * A stream whose isolate died: its stored chunks become a message, so that nothing that was shown is lost.
 */
import type { Conversation } from "../session/conversation";
import { MessageAccumulator } from "../stream/accumulator";
import type { ResumableStream } from "../stream/resumable-stream";

/** Returns whether the conversation gained a message. A second call finds nothing to do. */
export function settleOrphan(stream: ResumableStream, conversation: Conversation): boolean {
  const orphan = stream.isLive ? null : stream.active;
  if (!orphan) return false;
  const accumulator = new MessageAccumulator(orphan.messageId);
  for (const chunk of stream.chunks()) accumulator.apply(chunk);
  accumulator.close();
  if (!accumulator.isEmpty) conversation.put(accumulator.snapshot());
  stream.finish({ status: "completed" }, accumulator.id);
  return !accumulator.isEmpty;
}
