/**
 * `chat()` as seen by its caller: the callback that gets a turn's events, usually over RPC.
 *
 * Events are sent without waiting for each: a call per delta that is awaited one by one costs a round trip per token. A bounded number is in flight;
 * beyond it the turn waits, so a slow caller bounds memory instead of filling it.
 */
import { LIMITS } from "../shared/limits";
import type { TurnFollower } from "./turns";

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
  /** Rejects with what the callback threw, if it did. */
  settled(): Promise<void>;
}

export function followWithCallback(callback: Partial<StreamCallback>): CallbackFollower {
  const inFlight: Promise<void>[] = [];
  let failure: { readonly error: unknown } | undefined;

  /** A caller that fails is not called again; the turn goes on for everybody else. */
  const guarded = async (call: () => void | Promise<void>) => {
    try {
      await call();
    } catch (error) {
      failure ??= { error };
    }
  };

  return {
    chunk(json) {
      if (failure || !callback.onEvent) return;
      let sent: void | Promise<void>;
      try {
        sent = callback.onEvent(json);
      } catch (error) {
        failure = { error };
        return;
      }
      if (!sent) return;
      inFlight.push(guarded(() => sent));
      return inFlight.length > LIMITS.callbackEventsInFlight ? inFlight.shift() : undefined;
    },
    async ended(outcome) {
      // Nothing follows an abort, so nobody has to wait for a caller that may be the reason for it.
      if (outcome.status === "aborted") return;
      await Promise.all(inFlight);
      if (!failure && outcome.status === "interrupted") await guarded(() => callback.onInterrupted?.());
      if (!failure && outcome.status === "completed") await guarded(() => callback.onDone?.());
    },
    async settled() {
      if (failure) throw failure.error;
    }
  };
}
