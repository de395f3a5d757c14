/**
 * Builds the client tools of one agent from the modules they work with. Called once, by `compose`.
 */
import { encodeFrame } from "../protocol/encode";
import { FRAME } from "../protocol/frames";
import type { Conversation } from "../session/conversation";
import type { Clock, Ids } from "../shared/clock";
import { toolNameOf } from "../session/parts";
import type { ResumableStream } from "../stream/resumable-stream";
import type { ResumeDesk } from "../stream/resume-desk";
import type { RequestContext } from "../turn/request-context";
import type { Turns } from "../turn/turns";
import { ToolUpdates } from "./apply";
import { batchOf, hasOpenQuestion, type BatchState } from "./batch";
import { ClientTools } from "./client-tools";
import { Continuations } from "./continuations";
import { LostCalls, type LostCallsHost } from "./lost-calls";
import { Stability } from "./stability";

export interface ClientToolsParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly turns: Turns;
  readonly stream: ResumableStream;
  readonly desk: ResumeDesk;
  readonly conversation: Conversation;
  readonly context: RequestContext;
  readonly settleOrphan: () => void;
  readonly broadcast: (frame: string, without: readonly string[]) => void;
  /** Whether recovery is about to carry a turn on. */
  readonly isRecovering: () => boolean;
  /** Whether a call was given to another agent. */
  readonly wasHandedOver: LostCallsHost["wasHandedOver"];
  readonly toolsOfClients: LostCallsHost["toolsOfClients"];
  readonly repair: LostCallsHost["repair"];
}

export interface ClientToolsModule {
  /** The frames and the questions of the class. */
  readonly tools: ClientTools;
  readonly updates: ToolUpdates;
  readonly continuations: Continuations;
  /** Something changed that the model has to hear of, although it has had the last word. */
  news(connectionId: string | null): void;
  /** A turn has left the stage; `handedOver`: recovery carries it on. */
  stageFree(handedOver: boolean): void;
  /** Every turn was ended. */
  reset(): void;
}

export function createClientTools(parts: ClientToolsParts): ClientToolsModule {
  const { clock, ids, turns, desk, conversation, context } = parts;
  const updates = createUpdates(parts);
  let untold = false;
  const continuations: Continuations = new Continuations({
    ...{ clock, ids },
    streaming: () => turns.live !== undefined,
    batch: () => batchOrNews(batchOf(conversation.messages, parts.wasHandedOver), untold),
    run: (requestId, mayRun) =>
      turns.run({
        requestId,
        continuation: true,
        clientTools: context.clientTools,
        body: context.body,
        prepare: () => {
          const runs = mayRun();
          untold &&= !runs;
          return runs;
        }
      }),
    offer: (connectionId) => desk.invite(connectionId),
    decline: (connectionId) => desk.decline(connectionId),
    settled: () => stability.changed()
  });

  const openQuestion = () => hasOpenQuestion(conversation.messages, context.clientTools);
  const stability = new Stability({
    clock,
    isStable: () => turns.size === 0 && !continuations.isUnderWay && !openQuestion(),
    whenIdle: () => turns.whenIdle()
  });

  const lostCalls = createLostCalls(parts, () => continuations.answered(null, false));
  const questions = { context, stability, lostCalls, hasOpenQuestion: openQuestion };

  return {
    tools: new ClientTools({ updates, continuations, ...questions }),
    updates,
    continuations,
    news(connectionId) {
      untold = true;
      continuations.answered(connectionId, true);
      stability.changed();
    },
    stageFree(handedOver) {
      // Recovery carries the turn on; what waits for its end goes on waiting, or the model would be asked twice.
      if (!handedOver) continuations.stageFree();
      // What was answered during the turn may wait for a call that died with it.
      if (!handedOver && continuations.isWanted) void turns.whenIdle().then(() => lostCalls.look());
      stability.changed();
    },
    reset() {
      untold = false;
      continuations.reset();
      stability.changed();
    }
  };
}

function createUpdates({ turns, stream, conversation, broadcast, ...parts }: ClientToolsParts): ToolUpdates {
  return new ToolUpdates({
    live: () => turns.live?.accumulator,
    isServers: (part) =>
      turns.live?.serverTools?.has(toolNameOf(part)) === true || parts.wasHandedOver(part.toolCallId),
    record: (chunk) => void (stream.isLive && stream.append(chunk, JSON.stringify(chunk))),
    settleOrphan: (toolCallId) => void (orphanHolds(stream, toolCallId) && parts.settleOrphan()),
    messages: conversation,
    broadcast: (message) => broadcast(encodeFrame({ type: FRAME.messageUpdated, message }), [])
  });
}

function createLostCalls(
  { turns, conversation, context, isRecovering, ...parts }: ClientToolsParts,
  settled: () => void
): LostCalls {
  return new LostCalls({
    wasHandedOver: parts.wasHandedOver,
    toolsOfClients: parts.toolsOfClients,
    repair: parts.repair,
    settled,
    messages: () => conversation.messages,
    isBusy: () => turns.size > 0 || isRecovering(),
    isClients: (toolName) => context.clientTools.some(({ name }) => name === toolName)
  });
}

/** An orphan is left alone unless it is needed: it may yet be recovered. */
function orphanHolds(stream: ResumableStream, toolCallId: string): boolean {
  if (stream.isLive || !stream.active) return false;
  return stream.chunks().some((chunk) => "toolCallId" in chunk && chunk.toolCallId === toolCallId);
}

/** The model has had the last word, but something happened since. */
function batchOrNews(state: BatchState, isNews: boolean): BatchState {
  return state === "nothing" && isNews ? "ready" : state;
}
