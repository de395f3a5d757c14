/**
 * Builds what turns need: the stores, the resume desk, client tools, recovery and the loop. They need each other; each gets functions that
 * reach the others when called.
 */
import type { UIMessageChunk } from "ai";
import type { ChildRuns, ChildRunsParts } from "./child-runs/child-runs";
import { handedOver } from "./child-runs/handed-over";
import { hasOpenQuestion } from "./client-tools/batch";
import { createClientTools, type ClientToolsModule } from "./client-tools/create";
import { type ExecutionRuntime } from "./executions/executions";
import type { Host } from "./host/host";
import { withinTurn } from "./host/turn-scope";
import type { LoopAgent, LoopAuthor } from "./loop/loop-agent";
import { repairCalls } from "./loop/repair";
import { runLoop } from "./loop/run-loop";
import type { ModelStream } from "./loop/sdk";
import { toolsOfClients } from "./loop/tool-sources";
import { encodeFrame } from "./protocol/encode";
import { FRAME } from "./protocol/frames";
import { composeChildRuns, ownersOf } from "./compose-child-runs";
import { composeSession, type SessionOverrides, type SessionStores } from "./compose-session";
import type { ChatRecoveryConfig } from "./recovery/config";
import { IncidentStore, progressOfPublished } from "./recovery/incident-store";
import { ContextOverflow, type Compact, type OverflowParts } from "./recovery/overflow";
import { Recovery } from "./recovery/recovery";
import type { RecoveryParts } from "./recovery/recovery-types";
import { LIMITS } from "./shared/limits";
import { createConfigStore, type ConfigStore } from "./storage/config-store";
import { ResumableStream } from "./stream/resumable-stream";
import { ResumeDesk } from "./stream/resume-desk";
import { createStreamStore } from "./stream/stream-store";
import { ChatApi } from "./turn/chat-api";
import { openChatSink } from "./turn/chat-sink";
import { type FailureOptions, type ReportFailure } from "./turn/failures";
import { createRequestContext, type RequestContext } from "./turn/request-context";
import { ResponseHooks } from "./turn/responses";
import { settleOrphan as settleStream } from "./turn/settle-orphan";
import { type MessageConcurrency } from "./turn/submit-gate";
import type { Turn, TurnOutcome } from "./turn/turn";
import { Turns } from "./turn/turns";
import type { TurnResponse } from "./turn/turn-parts";

/** What the author of an agent decides, asked anew each time. */
export interface AgentOverrides extends SessionOverrides {
  readonly loop: LoopAuthor;
  readonly onChatError: FailureOptions["onChatError"];
  readonly onChatResponse: (response: TurnResponse) => void | Promise<void>;
  readonly messageConcurrency: () => MessageConcurrency;
  /** What keeps executions of code; undefined for an agent without `execute`. */
  readonly executionRuntime: () => ExecutionRuntime | undefined;
  /** How runs that a parent asks for are put, and what they give back. */
  readonly childRuns: ChildRunsParts["author"];
  readonly recovery: {
    readonly setting: () => boolean | ChatRecoveryConfig;
    readonly hook: RecoveryParts["hook"];
    readonly stallTimeoutMs: () => number;
  };
  readonly overflow: Pick<OverflowParts, "setting" | "classify"> & {
    /** Shortens the session's history. */
    readonly compact: Compact;
  };
}

/** What is stored: settings, conversation, stream and the last request's context. */
export interface Stores extends SessionStores {
  readonly config: ConfigStore;
  readonly stream: ResumableStream;
  readonly context: RequestContext;
}

export function composeStores(host: Host, overrides: AgentOverrides): Stores {
  const { sql, clock, kv } = host;
  const now = () => clock.now();
  const config = createConfigStore(sql);
  const session = composeSession(host, overrides, config);
  const initialProgress = () => progressOfPublished(kv);
  const store = createStreamStore({ sql, now });
  const sessionId = () => session.scope.id;
  const stream = new ResumableStream({
    store,
    now,
    setTimer: (run, ms) => clock.setTimer(run, ms),
    initialProgress,
    sessionId
  });
  return { ...session, config, stream, context: createRequestContext(config) };
}

export interface TurnModules {
  readonly turns: Turns;
  readonly desk: ResumeDesk;
  readonly clientTools: ClientToolsModule;
  readonly recovery: Recovery;
  readonly api: ChatApi;
  readonly childRuns: ChildRuns;
  /** Makes a message of what an earlier isolate left unfinished, and tells clients. */
  readonly settleOrphan: () => void;
}

/** Turns, the resume desk and client tools need each other; each gets functions that reach the others when called. */
export function composeTurns(
  host: Host,
  overrides: AgentOverrides,
  stores: Stores,
  reportFailure: ReportFailure,
  enterSession: (sessionId: string) => Promise<boolean>
): TurnModules {
  const { clock, ids, broadcast, send, emit } = host;
  const { conversation, stream, context } = stores;
  const announce = () =>
    broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), []);
  const settleOrphan = () => void (settleStream(stream, conversation) && announce());
  const isRecovering = () => recovery.isPending;
  const responses = new ResponseHooks(overrides.onChatResponse);

  const desk = new ResumeDesk(stream, {
    ...{ send, settleOrphan, isRecovering },
    message: (id) => conversation.get(id),
    claim: (connectionId, activeRequestId) => clientTools.continuations.claim(connectionId, activeRequestId)
  });

  const overflow = new ContextOverflow({ ...overrides.overflow, emit });
  const loop = composeLoop(host, overrides, stores, announce);
  const sinkOptions = {
    ...{ stream, desk, conversation, broadcast, send, ids, settleOrphan },
    remember: (turn: Turn) => recovery.remember(turn),
    ended: (outcome: TurnOutcome) => recovery.ended(outcome),
    foreignTool: (chunk: UIMessageChunk) => clientTools.updates.applyLate(chunk),
    opened: (turn: Turn) => clientTools.continuations.opened(turn.requestId)
  };
  const turns = new Turns({
    ...{ clock, ids, reportFailure },
    keepAlive: () => host.keepAlive(),
    within: withinTurn,
    keepAliveAfterMs: (turn) => keepAliveAfterMs(turn, recovery.isOn, host),
    rescue: {
      stallTimeoutMs: overrides.recovery.stallTimeoutMs,
      stalled: (live, timeoutMs) => recovery.stalled(live, timeoutMs),
      failed: (turn, cause, attempt) => overflow.failed(turn, cause, attempt)
    },
    openSink: (turn) => childRuns.open(turn, () => openChatSink(sinkOptions, turn)),
    startModel: (turn) => startModel(turn, loop, stores),
    responded: (response) => responses.deliver(response),
    idle: (handedOver) => clientTools.stageFree(handedOver)
  });
  const clientTools: ClientToolsModule = createClientTools({
    ...{ clock, ids, turns, stream, desk, conversation, context, broadcast, settleOrphan, isRecovering },
    wasHandedOver: (toolCallId) => handedOver(host.sql, conversation).wasGiven(toolCallId),
    toolsOfClients: () => toolsOfClients(loop),
    repair: (toolCallIds) => repairCalls(loop, conversation.messages, toolCallIds)
  });
  const api = new ChatApi({ turns, conversation, context, ids, broadcast, settleOrphan });
  const childRuns: ChildRuns = composeChildRuns(host, {
    ...{ stream, conversation, settleOrphan, turns, api, author: overrides.childRuns },
    recovery: () => recovery
  });
  const { isHandedOver } = loop;
  const parts = { turns, clientTools, announce, childRuns, enterSession, isHandedOver };
  const recovery: Recovery = composeRecovery(host, overrides, stores, parts);
  return { turns, desk, clientTools, settleOrphan, recovery, api, childRuns };
}

/** A turn sees the session as its author configured it, and a history that fits. */
async function startModel(
  turn: Turn,
  loop: LoopAgent,
  { session, conversation }: Stores
): Promise<ModelStream> {
  await session.ready();
  await session.current.compactIfNeeded();
  return runLoop(loop, { ...turn, messages: () => conversation.upTo(turn.parentId) });
}

/** The author's side of the loop with what the modules add to it. */
function composeLoop(
  { emit, sql }: Host,
  overrides: AgentOverrides,
  { session, stream, conversation }: Stores,
  announce: () => void
): LoopAgent {
  return {
    ...overrides.loop,
    // Blocks make the prompt, when there are some; otherwise the author writes it.
    systemPrompt: async () => (await session.prompt()) || overrides.loop.systemPrompt(),
    tools: async () => ({ session: await session.tools(), ...(await overrides.loop.tools()) }),
    emit,
    repeatable: (names) => stream.repeat(names),
    stepLimits: () => overrides.overflow.setting()?.proactive,
    compact: () => overrides.overflow.compact("proactive"),
    isHandedOver: (toolCallId) => handedOver(sql, conversation).isAwaited(toolCallId),
    saveSettled: (messages) => {
      for (const message of messages) conversation.put(message);
      announce();
    }
  };
}

type RecoveryNeeds = Pick<TurnModules, "turns" | "clientTools" | "childRuns"> &
  Pick<RecoveryParts, "announce" | "enterSession" | "isHandedOver">;

function composeRecovery(
  host: Host,
  { recovery: { setting, hook } }: AgentOverrides,
  { conversation, stream, context, scope }: Stores,
  { turns, clientTools, childRuns, ...parts }: RecoveryNeeds
): Recovery {
  const { clock, ids, emit, broadcast, send, schedules } = host;
  return new Recovery({
    ...{ clock, ids, emit, stream, conversation, context, schedules, setting, hook, ...parts },
    store: new IncidentStore(host.kv),
    ...ownersOf(() => childRuns),
    run: (request) => childRuns.follow(request, (owned) => turns.run(owned)),
    hasOpenQuestion: (messages) => hasOpenQuestion(messages, context.clientTools),
    waitUntilStable: (timeout) => clientTools.tools.waitUntilStable({ timeout }),
    isTransient: (error) => host.isTransient(error),
    broadcast: (frame) => broadcast(frame, []),
    send: (connectionId, frame) => void send(connectionId, frame),
    sessionId: () => scope.id
  });
}

/** Whoever is connected comes back by himself and wakes the object; a turn that nobody watches must be noticed by its alarm. */
function keepAliveAfterMs(turn: Turn, isRecovered: boolean, host: Host): number {
  const isWatched = turn.rootRequestId === turn.requestId && host.hasConnections();
  return isRecovered && !isWatched ? 0 : LIMITS.keepAliveAfterMs;
}
