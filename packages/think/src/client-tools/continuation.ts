/**
 * When a continuation runs, as a pure machine: state and event -> new state and effects. `continuations.ts` feeds it and performs the effects.
 *
 * I1. At most one continuation is on its way (`running`); what is answered meanwhile is one `deferred` wish.
 * I2. A `run` is only asked for when no turn streams and no call of the latest answer waits for its outcome.
 * I3. The timer runs only while the continuation could run: a person who is being asked costs nothing.
 * I4. Everyone in `awaiting` is offered the continuation's stream or told that none comes.
 */
import type { BatchState } from "./batch";

/** A continuation that is wanted but not yet asked for. */
export interface PendingContinuation {
  readonly requestId: string;
  /** The connection that answered; null when it is gone or there was none. */
  readonly owner: string | null;
}

/** A continuation that waits in the queue of turns or streams. */
export interface RunningContinuation extends PendingContinuation {
  readonly streaming: boolean;
}

export interface ContinuationState {
  readonly pending: PendingContinuation | null;
  readonly running: RunningContinuation | null;
  readonly deferred: { readonly owner: string | null } | null;
  /** Connections that were promised the continuation's stream, or an answer. */
  readonly awaiting: readonly string[];
  readonly armed: boolean;
}

/** What the machine needs to know of the world when it decides. */
export interface ContinuationFacts {
  /** Whether a turn is streaming: it may still make further calls. */
  readonly streaming: boolean;
  readonly batch: BatchState;
}

export type ContinuationEvent =
  /** An answer that asks for a continuation. */
  | {
      readonly type: "wanted";
      readonly owner: string | null;
      readonly newId: string;
      readonly facts: ContinuationFacts;
    }
  /** An answer that does not; it may complete what another one asked for. */
  | { readonly type: "answered"; readonly facts: ContinuationFacts }
  | { readonly type: "timer"; readonly facts: ContinuationFacts }
  /** The stream of a turn exists. */
  | { readonly type: "opened"; readonly requestId: string }
  /** A turn has left the stage. */
  | { readonly type: "stage-free"; readonly newId: string; readonly facts: ContinuationFacts }
  /** The continuation's turn is over, whether it ran or not. */
  | {
      readonly type: "settled";
      readonly requestId: string;
      readonly newId: string;
      readonly facts: ContinuationFacts;
    }
  | { readonly type: "left"; readonly connectionId: string }
  | { readonly type: "reset" };

export type ContinuationEffect =
  /** (Re)starts the timer. */
  | { readonly type: "arm" }
  | { readonly type: "disarm" }
  | { readonly type: "run"; readonly requestId: string }
  | { readonly type: "offer"; readonly connectionIds: readonly string[] }
  | { readonly type: "decline"; readonly connectionIds: readonly string[] };

export interface ContinuationStep {
  readonly state: ContinuationState;
  readonly effects: readonly ContinuationEffect[];
}

export const NO_CONTINUATION: ContinuationState = {
  pending: null,
  running: null,
  deferred: null,
  awaiting: [],
  armed: false
};

export function stepContinuation(state: ContinuationState, event: ContinuationEvent): ContinuationStep {
  switch (event.type) {
    case "wanted":
      return wanted(state, event);
    case "answered":
      return state.pending ? collect(state, event.facts) : only(state);
    case "timer":
      return decide({ ...state, armed: false }, event.facts);
    case "opened":
      return opened(state, event.requestId);
    case "stage-free":
      // Turns are serial: when the continuation has its stream, the turn that left the stage is the continuation.
      if (state.running?.streaming) return settled(state, event);
      return state.armed ? only(state) : decide(state, event.facts);
    case "settled":
      return state.running?.requestId === event.requestId ? settled(state, event) : only(state);
    case "left":
      return only(left(state, event.connectionId));
    case "reset":
      return { state: NO_CONTINUATION, effects: [...disarm(state), ...decline(state)] };
  }
}

/** How a request to resume is to be answered. */
export type ResumeClaim =
  /** Nothing here stands in its way. */
  | { readonly kind: "open" }
  /** The active stream is a continuation that another connection follows. */
  | { readonly kind: "owned" }
  /** It has to wait for the continuation; it is among the awaiting now. */
  | { readonly kind: "hold"; readonly requestId: string; readonly state: ContinuationState };

export function claimResume(
  state: ContinuationState,
  connectionId: string,
  activeRequestId: string | null
): ResumeClaim {
  const { running, pending, deferred } = state;
  if (activeRequestId !== null) {
    const isOwned =
      running?.requestId === activeRequestId && running.owner !== null && running.owner !== connectionId;
    return isOwned ? { kind: "owned" } : { kind: "open" };
  }
  const next = running ?? pending;
  if (!next) return { kind: "open" };
  const mayWait =
    next.owner === null ||
    [next.owner, deferred?.owner, ...state.awaiting].some((allowed) => allowed === connectionId);
  return mayWait
    ? { kind: "hold", requestId: next.requestId, state: withAwaiting(state, connectionId) }
    : { kind: "open" };
}

function wanted(
  state: ContinuationState,
  event: ContinuationEvent & { readonly type: "wanted" }
): ContinuationStep {
  const { owner } = event;
  if (state.running) return only({ ...state, deferred: { owner } });
  const requestId = state.pending?.requestId ?? event.newId;
  return collect(withAwaiting({ ...state, pending: { requestId, owner } }, owner), event.facts);
}

/** Waits a moment for further answers, if the continuation could run at all. */
function collect(state: ContinuationState, facts: ContinuationFacts): ContinuationStep {
  if (facts.streaming || facts.batch === "waiting")
    return { state: { ...state, armed: false }, effects: disarm(state) };
  if (facts.batch === "nothing") return drop(state);
  return { state: { ...state, armed: true }, effects: [{ type: "arm" }] };
}

/** Runs what can run now; what cannot stays as it is. */
function decide(state: ContinuationState, facts: ContinuationFacts): ContinuationStep {
  const { pending } = state;
  if (!pending || state.running || facts.streaming || facts.batch === "waiting") return only(state);
  if (facts.batch === "nothing") return drop(state);
  return {
    state: { ...state, pending: null, running: { ...pending, streaming: false }, armed: false },
    effects: [...disarm(state), { type: "run", requestId: pending.requestId }]
  };
}

/** The model has had the last word: there is nothing to continue. */
function drop(state: ContinuationState): ContinuationStep {
  return {
    state: { ...state, pending: null, awaiting: [], armed: false },
    effects: [...disarm(state), ...decline(state)]
  };
}

function opened(state: ContinuationState, requestId: string): ContinuationStep {
  if (state.running?.requestId !== requestId) return only(state);
  const effects: ContinuationEffect[] =
    state.awaiting.length > 0 ? [{ type: "offer", connectionIds: state.awaiting }] : [];
  return { state: { ...state, running: { ...state.running, streaming: true }, awaiting: [] }, effects };
}

/** Those who still wait were promised a stream that never came. Then it is the turn of what was wanted meanwhile. */
function settled(
  state: ContinuationState,
  event: { readonly newId: string; readonly facts: ContinuationFacts }
): ContinuationStep {
  if (!state.deferred) return { state: NO_CONTINUATION, effects: decline(state) };
  const { owner } = state.deferred;
  const others = decline({ ...state, awaiting: state.awaiting.filter((id) => id !== owner) });
  const wish = withAwaiting({ ...NO_CONTINUATION, pending: { requestId: event.newId, owner } }, owner);
  const next = decide(wish, event.facts);
  return { state: next.state, effects: [...others, ...next.effects] };
}

function left(state: ContinuationState, connectionId: string): ContinuationState {
  const disown = <Owned extends { readonly owner: string | null }>(owned: Owned | null): Owned | null =>
    owned?.owner === connectionId ? { ...owned, owner: null } : owned;
  return {
    ...state,
    pending: disown(state.pending),
    running: disown(state.running),
    deferred: disown(state.deferred),
    awaiting: state.awaiting.filter((id) => id !== connectionId)
  };
}

function withAwaiting(state: ContinuationState, connectionId: string | null): ContinuationState {
  if (connectionId === null || state.awaiting.includes(connectionId)) return state;
  return { ...state, awaiting: [...state.awaiting, connectionId] };
}

function decline({ awaiting }: ContinuationState): ContinuationEffect[] {
  return awaiting.length > 0 ? [{ type: "decline", connectionIds: awaiting }] : [];
}

function disarm({ armed }: ContinuationState): ContinuationEffect[] {
  return armed ? [{ type: "disarm" }] : [];
}

function only(state: ContinuationState): ContinuationStep {
  return { state, effects: [] };
}
