/**
 * What is known of an interrupted turn: the stream's row, the snapshot in it, the part of the answer that was stored, and how it could go on.
 * Only reads. Used by the detection (an orphan of an earlier isolate) and by the watchdog (a turn that still runs).
 */
import type { UIMessage } from "ai";
import { MessageAccumulator } from "../stream/accumulator";
import type { StreamRecord } from "../stream/stream-store";
import { recoveryKind, type Evidence } from "./engine";
import type { RecoveryKind } from "./incident";
import type { AttemptPayload, Leftover } from "./incidents";
import type { RecoveryParts } from "./recovery-types";
import { parseSnapshot, type TurnSnapshot } from "./snapshot";

export interface InterruptedTurn {
  readonly record: StreamRecord;
  readonly snapshot: TurnSnapshot | null;
  /** What was streamed, as a message; null when that is nothing. */
  readonly partial: UIMessage | null;
  readonly rootRequestId: string;
  readonly leftover: Leftover;
}

/** The message that stored chunks make; null when they say nothing. */
export function partialOf(record: StreamRecord, parts: Pick<RecoveryParts, "stream">): UIMessage | null {
  const accumulator = new MessageAccumulator(record.messageId, { keepId: record.continuation });
  for (const chunk of parts.stream.chunks()) accumulator.apply(chunk);
  accumulator.close();
  return accumulator.isEmpty ? null : accumulator.snapshot();
}

export function interruptedTurn(record: StreamRecord, partial: UIMessage | null): InterruptedTurn {
  const snapshot = parseSnapshot(record.turn);
  const texts = partial?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) ?? [];
  return {
    ...{ record, snapshot, partial },
    rootRequestId: snapshot?.recoveryRootRequestId ?? record.requestId,
    leftover: {
      streamId: record.id,
      messageId: partial?.id ?? "",
      createdAt: record.createdAt,
      partialText: texts.join(""),
      partialParts: partial?.parts ?? []
    }
  };
}

/** How the turn goes on when the partial answer is kept or not; null when it cannot. */
export function kindOf(
  turn: InterruptedTurn,
  isKept: boolean,
  { conversation }: Pick<RecoveryParts, "conversation">
): RecoveryKind | null {
  const leaf = conversation.messages.at(-1);
  return recoveryKind({
    hasPartial: isKept && turn.partial !== null,
    continuation: turn.record.continuation,
    isUnchanged: turn.snapshot !== null && turn.snapshot.latestMessageId === leaf?.id,
    leafRole: leaf?.role
  });
}

export function evidenceOf(turn: InterruptedTurn, parts: RecoveryParts): Evidence {
  const { clock, conversation, stream } = parts;
  const { partial, snapshot, record } = turn;
  const messages = partial ? [...conversation.messages, partial] : conversation.messages;
  const lastUser = conversation.messages.findLast((message) => message.role === "user")?.id;
  return {
    requestId: record.requestId,
    rootRequestId: turn.rootRequestId,
    latestUserMessageId: snapshot ? snapshot.latestUserMessageId : lastUser,
    kind: kindOf(turn, true, parts) ?? "continue",
    sessionId: snapshot?.sessionId ?? parts.sessionId(),
    ownerId: snapshot?.ownerId,
    progress: stream.progress,
    waitingOnHuman: parts.hasOpenQuestion(messages),
    now: clock.now()
  };
}

/** What the next attempt needs to know; it may run in another isolate, days later. */
export function payloadOf(
  turn: InterruptedTurn,
  { incidentId, kind, isKept }: { incidentId: string; kind: RecoveryKind; isKept: boolean },
  { conversation }: Pick<RecoveryParts, "conversation">
): AttemptPayload {
  const { snapshot, partial, record } = turn;
  const leafId = conversation.messages.at(-1)?.id;
  const target =
    kind === "retry"
      ? { targetUserId: leafId, ...(record.parentId === undefined ? {} : { parentId: record.parentId }) }
      : { targetAssistantId: isKept && partial ? partial.id : leafId };
  return {
    ...target,
    originalRequestId: turn.rootRequestId,
    incidentId,
    ...(snapshot ? { lastBody: snapshot.lastBody, lastClientTools: snapshot.lastClientTools } : {}),
    ...(snapshot?.ownerId === undefined ? {} : { ownerId: snapshot.ownerId }),
    ...(snapshot?.messageIds === undefined ? {} : { messageIds: snapshot.messageIds })
  };
}
