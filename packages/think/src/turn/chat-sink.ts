/**
 * The sink of every chat turn: chunks go to the durable stream and then to the connected clients; the end stores the message and tells
 * everyone how the turn ended, in that order.
 *
 * I1. Stored, then sent: no client knows more than storage does (apart from the buffered second of text).
 * I2. Message, stream record and terminal frame change in one synchronous step, so every observer sees all or none.
 */
import type { UIMessage } from "ai";
import { createResponseEncoder, encodeFrame, type ResponseEnd } from "../protocol/encode";
import { FRAME } from "../protocol/frames";
import type { Conversation } from "../session/conversation";
import type { ResumableStream, StreamEnd } from "../stream/resumable-stream";
import type { ResumeDesk } from "../stream/resume-desk";
import type { Turn, TurnOutcome } from "./turn";
import type { TurnSink } from "./turns";

export interface ChatSinkOptions {
  readonly stream: ResumableStream;
  readonly desk: ResumeDesk;
  readonly conversation: Conversation;
  /** Sends to every client except those named. */
  readonly broadcast: (frame: string, without: readonly string[]) => void;
  readonly send: (connectionId: string, frame: string) => boolean;
  /** Makes a message of what an earlier isolate left unfinished, before its rows are taken over. */
  readonly settleOrphan: () => void;
}

export function openChatSink(options: ChatSinkOptions, turn: Turn): TurnSink {
  const { stream, desk, conversation, broadcast, send } = options;
  const { requestId, messageId, continuation } = turn;
  const encoder = createResponseEncoder({ requestId, continuation });
  options.settleOrphan();
  stream.start({ streamId: messageId, requestId, messageId, continuation });

  const store = (outcome: TurnOutcome, message: UIMessage | null) => {
    // A clear has already taken the stream away; then there is nothing to end.
    if (stream.record?.requestId !== requestId) return;
    if (message) conversation.put(message, turn.parentId);
    stream.finish(streamEnd(outcome), message?.id);
  };

  return {
    chunk(chunk, json) {
      const seq = stream.append(chunk, json);
      broadcast(encoder.chunk(json, seq), desk.excluded);
    },
    end(outcome, message) {
      store(outcome, message);
      const missed = desk.release();
      broadcast(encoder.end(responseEnd(outcome)), []);
      if (missed.length === 0) return;
      const list = encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages });
      for (const connectionId of missed) send(connectionId, list);
    }
  };
}

/** The stored status knows no `aborted`: a stopped turn ended as asked. */
function streamEnd(outcome: TurnOutcome): StreamEnd {
  return outcome.status === "error" ? { status: "error", error: outcome.error } : { status: "completed" };
}

function responseEnd(outcome: TurnOutcome): ResponseEnd {
  return outcome.status === "error" ? { outcome: "error", error: outcome.error } : { outcome: outcome.status };
}
