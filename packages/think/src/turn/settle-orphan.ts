/**
 * A stream whose isolate died: its stored chunks become a message, so that nothing that was shown is lost. Called before the next
 * message is stored and before the next stream takes over the rows; must not throw, or the agent could never again run a turn.
 */
import type { UIMessage } from "ai";
import type { Conversation } from "../session/conversation";
import { errorText } from "../shared/errors/error-text";
import { MessageAccumulator } from "../stream/accumulator";
import type { ResumableStream, StreamEnd } from "../stream/resumable-stream";

/** Returns whether the conversation gained a message. A second call finds nothing to do. */
export function settleOrphan(stream: ResumableStream, conversation: Conversation): boolean {
  const orphan = stream.isLive ? null : stream.active;
  if (!orphan) return false;
  const accumulator = new MessageAccumulator(orphan.messageId, { keepId: orphan.continuation });
  for (const chunk of stream.chunks()) accumulator.apply(chunk);
  accumulator.close();
  const end = accumulator.isEmpty ? COMPLETED : store(conversation, accumulator.snapshot(), orphan.parentId);
  stream.finish(end, accumulator.id);
  return !accumulator.isEmpty && end === COMPLETED;
}

const COMPLETED: StreamEnd = { status: "completed" };

/** What does not fit a row is lost, and those who come back are told. */
function store(conversation: Conversation, message: UIMessage, parentId: string | undefined): StreamEnd {
  try {
    conversation.put(message, parentId);
    return COMPLETED;
  } catch (error) {
    console.error(`[Think] An interrupted answer could not be stored: ${errorText(error)}`, error);
    return { status: "error", error: errorText(error) };
  }
}
