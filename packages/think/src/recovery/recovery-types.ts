/**
 * What recovery needs from the agent and its modules, and what its author sees of it.
 */
import type { UIMessage } from "ai";
import type { Emit } from "../observability/events";
import type { ClientToolSchema } from "../protocol/frames";
import type { Conversation } from "../session/conversation";
import type { Clock, Ids } from "../shared/clock";
import type { ResumableStream } from "../stream/resumable-stream";
import type { RequestContext } from "../turn/request-context";
import type { TurnResult } from "../turn/turn";
import type { TurnRequest } from "../turn/turn-parts";
import type { ChatRecoveryConfig } from "./config";
import type { RecoveryKind } from "./incident";
import type { IncidentStore } from "./incident-store";

/** What `onChatRecovery` sees of an interrupted turn. */
export interface ChatRecoveryContext {
  readonly incidentId: string;
  /** The request id of the turn's first attempt. */
  readonly recoveryRootRequestId: string;
  readonly requestId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** `retry`: nothing of the answer exists. `continue`: the model would carry on from the part that does. */
  readonly recoveryKind: RecoveryKind;
  readonly streamId: string;
  readonly partialText: string;
  readonly partialParts: UIMessage["parts"];
  /** What the turn gave to `stash()`, or null. */
  readonly recoveryData: unknown;
  /** A copy of the conversation, without the partial answer. */
  readonly messages: UIMessage[];
  readonly lastBody?: Readonly<Record<string, unknown>> | undefined;
  readonly lastClientTools?: readonly ClientToolSchema[] | undefined;
  /** When the interrupted turn began, in ms. */
  readonly createdAt: number;
}

/** What `onChatRecovery` decides. */
export interface ChatRecoveryOptions {
  /** Whether the partial answer is stored; settled tool results always are. Default: true. */
  readonly persist?: boolean;
  /** Whether the turn goes on. Default: true. */
  readonly continue?: boolean;
}

/** The methods of the agent that a schedule may call. */
export type RecoveryCallback = "_chatRecoveryContinue" | "_chatRecoveryRetry" | "_chatRecoveryDetect";

/** Durable, delayed calls of the agent. */
export interface RecoverySchedule {
  /** Calls back after so many seconds; returns the id of the schedule. */
  schedule(seconds: number, callback: RecoveryCallback, payload: unknown): Promise<string>;
  cancel(scheduleId: string): Promise<void>;
  /** Makes sure that what is planned has its alarm: a schedule is stored first, and a crash may have come in between. */
  rearm(): Promise<void>;
}

export interface RecoveryParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly emit: Emit;
  readonly store: IncidentStore;
  readonly stream: ResumableStream;
  readonly conversation: Conversation;
  readonly context: RequestContext;
  readonly schedules: RecoverySchedule;
  /** The author's setting. */
  readonly setting: () => boolean | ChatRecoveryConfig;
  readonly hook: (
    context: ChatRecoveryContext
  ) => ChatRecoveryOptions | void | Promise<ChatRecoveryOptions | void>;
  readonly run: (request: TurnRequest) => Promise<TurnResult>;
  /** Whether a person or a client is being asked, given these messages. */
  readonly hasOpenQuestion: (messages: readonly UIMessage[]) => boolean;
  readonly waitUntilStable: (timeoutMs: number) => Promise<boolean>;
  /** Whether the platform lost the object in mid-air; the same call may succeed when repeated. */
  readonly isTransient: (error: unknown) => boolean;
  readonly broadcast: (frame: string) => void;
  readonly send: (connectionId: string, frame: string) => void;
  /** Tells every client the messages. */
  readonly announce: () => void;
  /** The session that turns belong to; empty for the primary one. */
  readonly sessionId: () => string;
  /** Makes another session the active one, because a turn of it is carried on. False when it is gone. */
  readonly enterSession: (sessionId: string) => Promise<boolean>;
  /** Whether the owner of a turn still wants it. Default: always. */
  readonly isWanted?: (ownerId: string | undefined) => boolean;
  /** Whether a tool call was handed to another agent, which goes on by itself. Default: never. */
  readonly isHandedOver?: (toolCallId: string) => boolean;
  /** An incident was closed: whatever became of its turn, recovery does nothing more for it. */
  readonly closed?: () => void;
}
