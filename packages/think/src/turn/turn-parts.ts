/**
 * What turns are asked for, what they need and where their events go: the interfaces between `turns.ts` and the modules around it.
 */
import type { UIMessage } from "ai";
import type { ModelStream } from "../loop/sdk";
import type { Clock, Ids } from "../shared/clock";
import type { MessageAccumulator } from "../stream/accumulator";
import type { ChunkSink } from "./consume";
import type { ChatErrorClassification, ReportFailure } from "./failures";
import type { TurnFollower } from "./follower";
import type { Turn, TurnInput, TurnOutcome } from "./turn";

export interface TurnRequest extends TurnInput {
  readonly requestId: string;
  /** The user messages that a client's request ended with; told at its end. */
  readonly messageIds?: readonly string[] | undefined;
  /** The queue generation at arrival, when work was done before `run` was called. Default: the current one. */
  readonly generation?: number;
  /** Cancels the turn from outside. */
  readonly signal?: AbortSignal | undefined;
  /** Runs once the turn can be cancelled, before it waits for its place. */
  readonly accepted?: (() => void | Promise<void>) | undefined;
  /** Runs when the turn's place in the queue has come, before anything else. `false` skips the turn; a throw fails it. */
  readonly prepare?: (() => boolean | Promise<boolean>) | undefined;
  /** Runs when the turn's stream exists: from here on its interruption is noticed. */
  readonly started?: (() => void) | undefined;
  /** Follows the turn's chunks besides the connected clients. */
  readonly follower?: TurnFollower | undefined;
}

/** Where one turn's events go. */
export interface TurnSink extends ChunkSink {
  /** What was streamed so far is dropped, and the turn runs once more. */
  restart(): void;
  /** Stores what was built. Not called when there is nothing, or when the conversation was cleared meanwhile. */
  save(message: UIMessage): void;
  /** `message` is what was saved. */
  end(outcome: TurnOutcome, message: UIMessage | null): void;
}

/** The turn that is streaming now, with the message it builds. */
export interface LiveTurn {
  readonly turn: Turn;
  readonly accumulator: MessageAccumulator;
  /** Names of the tools that run on the server in this turn; known once the model is asked. */
  readonly serverTools?: ReadonlySet<string> | undefined;
  /** Resolves when the turn has left the stage. */
  readonly over: Promise<void>;
}

/** What `onChatResponse` is told. */
export interface TurnResponse {
  readonly turn: Turn;
  readonly outcome: TurnOutcome;
  readonly message: UIMessage;
}

/** What turns do when they cannot go on by themselves. */
export interface TurnRescue {
  /** Longest silence of a model's stream, in ms, unless the turn says otherwise; 0 is no limit. */
  stallTimeoutMs(): number;
  /** A stream came to a standstill. Undefined: nobody takes care of it, and the turn fails. */
  stalled(live: LiveTurn, timeoutMs: number): Promise<TurnOutcome | undefined>;
  /** A stream failed. `retry`: what was in its way is removed, the turn runs once more. `attempt` counts from 0. */
  failed(turn: Turn, cause: unknown, attempt: number): Promise<Rescue>;
}

export type Rescue =
  | { readonly action: "retry" }
  | { readonly action: "fail"; readonly classification?: ChatErrorClassification | undefined };

export interface TurnsOptions {
  readonly rescue: TurnRescue;
  /** How long a turn may run before it arms the heartbeat, in ms. */
  readonly keepAliveAfterMs: (turn: Turn) => number;
  /** Runs a turn's work so that what it calls knows which turn it belongs to. */
  readonly within: <Result>(turn: Turn, work: () => Promise<Result>) => Promise<Result>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called when a turn's work begins, before the model is asked. */
  readonly openSink: (turn: Turn) => TurnSink;
  readonly startModel: (turn: Turn) => Promise<ModelStream>;
  readonly reportFailure: ReportFailure;
  readonly responded: (response: TurnResponse) => Promise<void>;
  /** A turn has left the stage (also a failed one): the next thing may happen, unless recovery will carry the turn on. */
  readonly idle: (handedOver: boolean) => void;
  /** Keeps the object from being evicted until the returned function is called. */
  readonly keepAlive: () => Promise<() => void>;
}
