/**
 * `chat()` as seen by its caller: the callback that gets a turn's events, usually over RPC.
 *
 * I1. How events are sent, and how a slow caller bounds memory: `event-sender.ts`.
 * I2. A caller that fails, or whose object died, is not called again. The turn goes on for everybody else and is stored.
 * I3. Members that are missing are not called. Over RPC every member seems to be there, and the call says that it is not.
 */
import { EventSender } from "./event-sender";
import type { TurnFollower } from "./follower";

/** Gets the events of one turn. Every member may be async. Members that are missing are not called. */
export interface StreamCallback {
  /** The turn was accepted; `requestId` cancels it. */
  onStart?(event: ChatStartEvent): void | Promise<void>;
  /** One UI message chunk, as JSON text. Deltas that follow each other come as one when the caller is slow to answer. */
  onEvent?(json: string): void | Promise<void>;
  /** The turn completed and its message is stored. */
  onDone?(): void | Promise<void>;
  /** The turn failed; the text is what clients were told. */
  onError?(error: string): void | Promise<void>;
  /** The turn was interrupted; a continuation that this callback will not see owns the outcome. */
  onInterrupted?(): void | Promise<void>;
}

export interface ChatStartEvent {
  readonly requestId: string;
}

export interface CallbackFollower extends TurnFollower {
  /** The turn was accepted. Rejects with what the callback threw. */
  started(event: ChatStartEvent): Promise<void>;
  /** The turn failed. Rejects with what the callback threw. */
  failed(error: string): Promise<void>;
  /** Rejects with what the callback threw, if it did. */
  settled(): Promise<void>;
}

export function followWithCallback(callback: Partial<StreamCallback>): CallbackFollower {
  let failure: { readonly error: unknown } | undefined;

  /** A caller that fails is not called again; the turn goes on for everybody else. */
  const guarded = async (call: () => void | Promise<void>) => {
    try {
      await call();
    } catch (error) {
      failure ??= { error };
    }
  };

  const sender = new EventSender({
    send: (json) => callback.onEvent?.(json),
    failed: (error) => {
      if (!isMissing(error, "onEvent")) failure ??= { error };
    }
  });

  return {
    started: (event) => ifPresent("onStart", () => callback.onStart?.(event)),
    failed: (error) => ifPresent("onError", () => callback.onError?.(error)),
    chunk: (json, chunk) => sender.push(chunk, json),
    async ended(outcome) {
      // Nothing follows an abort, so nobody has to wait for a caller that may be the reason for it.
      if (outcome.status === "aborted") return sender.stop();
      await sender.flush();
      if (failure) return;
      if (outcome.status === "interrupted")
        await guarded(() => ifPresent("onInterrupted", () => callback.onInterrupted?.()));
      if (outcome.status === "completed") await guarded(() => ifPresent("onDone", () => callback.onDone?.()));
    },
    async settled() {
      if (failure) throw failure.error;
    }
  };
}

async function ifPresent(member: string, call: () => void | Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isMissing(error, member)) throw error;
  }
}

/** What a call over RPC says of a member that the other side does not have; the platform has no code for it. */
function isMissing(error: unknown, member: string): boolean {
  if (!(error instanceof Error)) return false;
  return ["", "the method "].some((kind) => error.message.includes(`does not implement ${kind}"${member}"`));
}
