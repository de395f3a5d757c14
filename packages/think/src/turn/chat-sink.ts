/**
 * The sink of every chat turn: chunks go to the durable stream and then to the connected clients; the end stores the message and tells
 * everyone how the turn ended, in that order.
 *
 * I1. Stored, then sent: no client knows more than storage does (apart from the buffered second of text).
 * I2. Message, stream record and terminal frame change in one synchronous step, so every observer sees all or none.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import { createResponseEncoder, encodeFrame, type ResponseEnd } from "../protocol/encode";
import { FRAME } from "../protocol/frames";
import type { Conversation } from "../session/conversation";
import type { Ids } from "../shared/clock";
import { jsonEqual } from "../shared/json";
import { LIMITS } from "../shared/limits";
import type { ResumableStream, StreamEnd } from "../stream/resumable-stream";
import type { ResumeDesk } from "../stream/resume-desk";
import type { Turn, TurnOutcome } from "./turn";
import type { TurnSink } from "./turn-parts";

export interface ChatSinkOptions {
  readonly stream: ResumableStream;
  readonly desk: ResumeDesk;
  readonly conversation: Conversation;
  /** Sends to every client except those named. */
  readonly broadcast: (frame: string, without: readonly string[]) => void;
  readonly send: (connectionId: string, frame: string) => boolean;
  readonly ids: Ids;
  /** What is needed to run the turn again after an interruption, as JSON. Undefined: it is not recovered. */
  readonly remember: (turn: Turn) => string | undefined;
  /** Makes a message of what an earlier isolate left unfinished, before its rows are taken over. */
  readonly settleOrphan: () => void;
  /** A tool outcome that belongs to a message of an earlier turn. */
  readonly foreignTool: (chunk: UIMessageChunk) => void;
  /** Everybody has been told how the turn ended. */
  readonly ended: (outcome: TurnOutcome) => void;
  /** The turn's stream exists now and can be joined. */
  readonly opened: (turn: Turn) => void;
}

export function openChatSink(options: ChatSinkOptions, turn: Turn): TurnSink {
  const { stream, desk, conversation, broadcast, send, ids } = options;
  const { requestId, messageId, continuation, messageIds } = turn;
  const encoder = createResponseEncoder({ requestId, continuation, messageIds });
  options.settleOrphan();
  desk.dismiss();
  stream.start({
    streamId: messageId,
    requestId,
    messageId,
    continuation,
    messageIds,
    counted: continuation || turn.ownerId !== undefined,
    parentId: turn.parentId,
    turn: options.remember(turn)
  });
  options.opened(turn);
  let cut: UIMessage | undefined;
  /** Whether clients were shown something that is not in the message. */
  let isRepeated = false;

  return {
    foreignTool: options.foreignTool,
    chunk(chunk, json) {
      const seq = stream.append(chunk, json);
      broadcast(encoder.chunk(json, seq), desk.excluded);
    },
    restart() {
      stream.restart(ids.next());
      isRepeated = true;
    },
    save(message) {
      const stored = conversation.put(message, turn.parentId);
      if (stored && wasCut(message, stored)) cut = stored;
    },
    end(outcome, message) {
      // A clear has already taken the stream away; then there is nothing to end. Tabs that watched have forgotten it, and the old
      // client would make an empty answer of an end it does not know: as a replay only the asking tab minds it.
      const isCleared = stream.record?.requestId !== requestId || !stream.isLive;
      if (!isCleared) stream.finish(streamEnd(outcome), message?.id);
      const missed = desk.release();
      broadcast(encoder.end(responseEnd(outcome), isCleared), []);
      // Clients must not go on showing what is no longer there.
      if (cut) broadcast(encodeFrame({ type: FRAME.messageUpdated, message: cut }), []);
      // Clients show a continuation as part of the previous answer until they get the list in which it is a message of its own.
      const list = () => encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages });
      // A regeneration of which nothing came leaves the old answer in place; of a recovered one nobody was told where it goes.
      const isAstray = turn.parentId !== undefined && (message === null || turn.rootRequestId !== requestId);
      if ((continuation && message) || isRepeated || (isAstray && !isCleared)) broadcast(list(), []);
      else for (const connectionId of missed) send(connectionId, list());
      options.ended(outcome);
    }
  };
}

/** Whether the row limit took something away. Sanitising is no cut, and most messages are too small to be compared. */
function wasCut(streamed: UIMessage, stored: UIMessage): boolean {
  // A character is at most three bytes of UTF-8.
  return (
    JSON.stringify(streamed).length * 3 > LIMITS.messageBytes && !jsonEqual(streamed.parts, stored.parts)
  );
}

/** The stored status knows no `aborted`: a stopped turn ended as asked. That it was stopped is kept beside it. */
function streamEnd(outcome: TurnOutcome): StreamEnd {
  if ("error" in outcome && outcome.error !== undefined) return { status: "error", error: outcome.error };
  return { status: "completed", aborted: outcome.status !== "completed" };
}

function responseEnd(outcome: TurnOutcome): ResponseEnd {
  if ("error" in outcome && outcome.error !== undefined) return { outcome: "error", error: outcome.error };
  if (outcome.status === "interrupted") return { outcome: "recovering" };
  return { outcome: outcome.status === "completed" ? "completed" : "aborted" };
}
