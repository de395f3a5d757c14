/**
 * `chat()` as seen by its caller: the callback that gets a turn's events, usually over RPC.
 *
 * I1. Events are sent without waiting for each: a call per delta that is awaited one by one costs a round trip per token. At most
 *     `callbackEventsInFlight` are unanswered; beyond that the turn waits, so a slow caller bounds memory instead of filling it.
 * I2. A caller that fails, or whose object died, is not called again. The turn goes on for everybody else and is stored.
 * I3. Members that are missing are not called. Over RPC every member seems to be there, and the call says that it is not.
 */
import { LIMITS } from "../shared/limits";
import type { TurnFollower } from "./follower";

/** Gets the events of one turn. Every member may be async. Members that are missing are not called. */
export interface StreamCallback {
  /** The turn was accepted; `requestId` cancels it. */
  onStart(event: ChatStartEvent): void | Promise<void>;
  /** One UI message chunk, as JSON text. */
  onEvent(json: string): void | Promise<void>;
  /** The turn completed and its message is stored. */
  onDone(): void | Promise<void>;
  /** The turn failed; the text is what clients were told. */
  onError(error: string): void | Promise<void>;
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
  const inFlight: Promise<void>[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wantsEvents = callback.onEvent !== undefined;

  /** A caller that fails is not called again; the turn goes on for everybody else. */
  const guarded = async (call: () => void | Promise<void>) => {
    try {
      await call();
    } catch (error) {
      failure ??= { error };
    }
  };

  const answered = async (sent: Promise<void>) => {
    try {
      await sent;
    } catch (error) {
      if (isMissing(error, "onEvent")) wantsEvents = false;
      else failure ??= { error };
    }
  };

  return {
    started: (event) => ifPresent("onStart", () => callback.onStart?.(event)),
    failed: (error) => ifPresent("onError", () => callback.onError?.(error)),
    chunk(json) {
      if (failure || !wantsEvents) return;
      let sent: void | Promise<void>;
      try {
        sent = callback.onEvent?.(json);
      } catch (error) {
        failure = { error };
        return;
      }
      if (!sent) return;
      inFlight.push(answered(sent));
      return inFlight.length >= LIMITS.callbackEventsInFlight ? inFlight.shift() : undefined;
    },
    async ended(outcome) {
      // Nothing follows an abort, so nobody has to wait for a caller that may be the reason for it.
      if (outcome.status === "aborted") return;
      await Promise.all(inFlight);
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
