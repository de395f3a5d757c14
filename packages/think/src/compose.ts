/**
 * Builds the modules of one agent from its host and the author's overrides. The only place where they meet.
 */
import { type ClientToolsModule } from "./client-tools/create";
import type { ClientTools } from "./client-tools/client-tools";
import { Executions } from "./executions/executions";
import type { Host } from "./host/host";
import type { ChatHandlers } from "./host/install-chat";
import { StartSteps } from "./host/start-steps";
import { encodeFrame } from "./protocol/encode";
import { FRAME } from "./protocol/frames";
import type { AgentSession } from "./session/agent-session";
import type { Conversation } from "./session/conversation";
import { mediaExaminedKey } from "./session/older-media";
import type { SearchIndex } from "./session/search-index";
import { NamedSessions } from "./sessions/named-sessions";
import type { Recovery } from "./recovery/recovery";
import { type ConfigStore } from "./storage/config-store";
import { ChatRequests } from "./transport/chat-requests";
import { ChatTransport } from "./transport/chat-transport";
import { FirstQuestion } from "./transport/first-question";
import type { ChatApi } from "./turn/chat-api";
import type { ChildRuns } from "./child-runs/child-runs";
import { createFailureReporter } from "./turn/failures";
import { SubmitGate } from "./turn/submit-gate";
import type { Turns } from "./turn/turns";
import {
  composeStores,
  composeTurns,
  type AgentOverrides,
  type Stores,
  type TurnModules
} from "./compose-turns";

export type { AgentOverrides } from "./compose-turns";

export interface Modules {
  readonly config: ConfigStore;
  readonly conversation: Conversation;
  readonly turns: Turns;
  readonly api: ChatApi;
  readonly clientTools: ClientTools;
  readonly executions: Executions;
  readonly startSteps: StartSteps;
  readonly session: AgentSession;
  readonly sessions: NamedSessions;
  readonly search: SearchIndex;
  readonly recovery: Recovery;
  readonly childRuns: ChildRuns;
  /** Keeps a value for the running turn's recovery; false when recovery is off. */
  readonly stash: (data: unknown) => boolean;
  /** The chat's side of the agent's handlers. */
  readonly handlers: ChatHandlers;
  /** Ends every turn, running or waiting; the conversation stays. */
  readonly resetTurns: () => void;
  /** Forgets the conversation, durably, and tells every client but those named. */
  readonly clear: (without: readonly string[]) => void;
}

export function compose(host: Host, overrides: AgentOverrides): Modules {
  const { ids, broadcast, send, emit } = host;
  const stores = composeStores(host, overrides);
  const { config, conversation, stream, context, session } = stores;
  const reportFailure = createFailureReporter({ onChatError: overrides.onChatError, emit });
  const turnModules = composeTurns(host, overrides, stores, reportFailure, (id) => sessions.follow(id));
  const { turns, desk, clientTools, settleOrphan, recovery, childRuns, api } = turnModules;
  const gate = new SubmitGate(host.clock);

  const resetTurns = () => {
    turns.reset();
    gate.reset();
    clientTools.reset();
  };

  const clear = (without: readonly string[]) => {
    resetTurns();
    stream.clear();
    childRuns.cleared();
    recovery.clear();
    desk.release();
    conversation.clear();
    session.cleared();
    broadcast(encodeFrame({ type: FRAME.chatClear }), without);
  };

  const startSteps = new StartSteps(emit);
  const sessions: NamedSessions = composeNamedSessions(host, stores, {
    ...{ ...turnModules, resetTurns, startSteps }
  });
  const firstQuestion = new FirstQuestion();
  const requests = new ChatRequests({
    ...{ turns, gate, context, conversation, stream, ids, firstQuestion, reportFailure, broadcast, send },
    settleOrphan,
    policy: overrides.messageConcurrency
  });
  const transport = new ChatTransport({
    ...{ requests, turns, conversation, desk, firstQuestion, reportFailure, send },
    history: (sessionId) => sessions.history(sessionId),
    // A client that starts over brings its tools and fields anew; when code clears, the clients are still those they were.
    clear: (without) => {
      context.clear();
      clear(without);
    },
    clientTools: clientTools.tools,
    greeted: (connectionId) => recovery.greet(connectionId),
    left: (connectionId) => clientTools.continuations.leave(connectionId)
  });
  return {
    ...{ config, conversation, turns, startSteps, session, sessions, search: stores.search },
    ...{ resetTurns, clear, recovery, api, childRuns },
    stash: (data) => {
      if (!recovery.isOn) return false;
      stream.stash(JSON.stringify(data ?? null));
      return true;
    },
    clientTools: clientTools.tools,
    executions: composeExecutions(host, overrides, conversation, turns, clientTools),
    handlers: createHandlers(host, { transport, turns }, () =>
      start({ startSteps, sessions, session, conversation, recovery })
    )
  };
}

/** What happens before the author's `onStart`, in this order; none of it can stop the agent from starting. */
async function start(
  modules: Pick<Modules, "startSteps" | "sessions" | "session" | "conversation" | "recovery">
): Promise<void> {
  const { startSteps, sessions, session, conversation, recovery } = modules;
  await startSteps.attempt("session-configuration", () => {
    sessions.restore();
    return session.enter();
  });
  await startSteps.attempt("transcript-hydration", () => void conversation.messages);
  await startSteps.attempt("durable-work-recovery", () => recovery.detect());
}

function composeNamedSessions(
  { ids, broadcast }: Host,
  stores: Stores,
  turnModules: Omit<TurnModules, "clientTools"> & Pick<Modules, "resetTurns" | "startSteps">
): NamedSessions {
  const { turns, desk, settleOrphan, recovery, resetTurns, startSteps } = turnModules;
  const { conversation, stream, session, config } = stores;
  return new NamedSessions({
    ...{ ...stores, ids, settle: settleOrphan },
    isBusy: () => turns.size > 0 || recovery.isPending,
    left: () => {
      resetTurns();
      desk.release();
    },
    interrupted: () => stream.interruptedSession,
    removed: (id) => {
      stream.forgetSession(id);
      config.set(mediaExaminedKey(id), undefined);
    },
    // The change has happened; an author's failure must not keep it from those who asked for it.
    entered: () => startSteps.attempt("session-configuration", () => session.enter()),
    announce: () => broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), [])
  });
}

function createHandlers(
  host: Host,
  { transport, turns }: { readonly transport: ChatTransport; readonly turns: Turns },
  start: () => Promise<void>
): ChatHandlers {
  return {
    start,
    connect: (connectionId) => {
      host.connectionsChanged();
      transport.connect(connectionId);
    },
    disconnect: (connectionId, isBack) => {
      host.connectionsChanged();
      if (isBack) return;
      transport.disconnect(connectionId);
      if (!host.hasConnections()) turns.holdAlive();
    },
    message: (connectionId, data) => transport.message(connectionId, data),
    request: (url) => transport.request(url)
  };
}

function composeExecutions(
  { ids, broadcast }: Host,
  overrides: AgentOverrides,
  conversation: Conversation,
  turns: Turns,
  clientTools: ClientToolsModule
): Executions {
  return new Executions({
    ids,
    runtime: overrides.executionRuntime,
    generation: () => turns.generation,
    live: () => turns.live?.accumulator.snapshot(),
    newestFirst: () => conversation.newestFirst(),
    replace: (toolCallId, executionId, output) =>
      clientTools.updates.apply(toolCallId, { kind: "execution", executionId, output }),
    append: (message) => {
      conversation.append([message]);
      broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), []);
    },
    carryOn: (connectionId) => clientTools.news(connectionId)
  });
}
