/**
 * Builds the modules of one agent from its host and the author's overrides. The only place where they meet.
 */
import type { UIMessageChunk } from "ai";
import { createClientTools, type ClientToolsModule } from "./client-tools/create";
import type { ClientTools } from "./client-tools/client-tools";
import type { Host } from "./host/host";
import type { ChatHandlers } from "./host/install-chat";
import { StartSteps } from "./host/start-steps";
import type { LoopAgent, LoopAuthor } from "./loop/loop-agent";
import { runLoop } from "./loop/run-loop";
import { encodeFrame } from "./protocol/encode";
import { FRAME } from "./protocol/frames";
import { createConversation, type Conversation } from "./session/conversation";
import type { AttachmentFiles } from "./session/media-eviction";
import type { MediaEvictionSetting } from "./session/media-settings";
import { createMessageStore } from "./session/message-store";
import { createConfigStore, type ConfigStore } from "./storage/config-store";
import { ResumableStream } from "./stream/resumable-stream";
import { ResumeDesk } from "./stream/resume-desk";
import { createStreamStore } from "./stream/stream-store";
import { ChatRequests } from "./transport/chat-requests";
import { ChatTransport } from "./transport/chat-transport";
import { FirstQuestion } from "./transport/first-question";
import { ChatApi } from "./turn/chat-api";
import { openChatSink } from "./turn/chat-sink";
import { createFailureReporter, type FailureOptions, type ReportFailure } from "./turn/failures";
import { createRequestContext, type RequestContext } from "./turn/request-context";
import { ResponseHooks } from "./turn/responses";
import { settleOrphan as settleStream } from "./turn/settle-orphan";
import { SubmitGate, type MessageConcurrency } from "./turn/submit-gate";
import type { Turn } from "./turn/turn";
import { Turns, type TurnResponse } from "./turn/turns";

/** What the author of an agent decides, asked anew each time. */
export interface AgentOverrides {
  readonly loop: LoopAuthor;
  readonly onChatError: FailureOptions["onChatError"];
  readonly onChatResponse: (response: TurnResponse) => void | Promise<void>;
  readonly messageConcurrency: () => MessageConcurrency;
  readonly hydrationByteBudget: () => number;
  readonly mediaEviction: () => MediaEvictionSetting;
  /** Where evicted media goes; undefined for an agent without a workspace. */
  readonly attachments: () => AttachmentFiles | undefined;
}

export interface Modules {
  readonly config: ConfigStore;
  readonly conversation: Conversation;
  readonly turns: Turns;
  readonly api: ChatApi;
  readonly clientTools: ClientTools;
  readonly startSteps: StartSteps;
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
  const { config, conversation, stream, context } = stores;
  const reportFailure = createFailureReporter({ onChatError: overrides.onChatError, emit });
  const { turns, desk, clientTools, settleOrphan } = composeTurns(host, overrides, stores, reportFailure);
  const gate = new SubmitGate(host.clock);

  const resetTurns = () => {
    turns.reset();
    gate.reset();
    clientTools.reset();
  };

  const clear = (without: readonly string[]) => {
    resetTurns();
    stream.clear();
    desk.release();
    conversation.clear();
    broadcast(encodeFrame({ type: FRAME.chatClear }), without);
  };

  const firstQuestion = new FirstQuestion();
  const requests = new ChatRequests({
    ...{ turns, gate, context, conversation, stream, ids, firstQuestion, reportFailure, broadcast, send },
    settleOrphan,
    policy: overrides.messageConcurrency
  });
  const transport = new ChatTransport({
    ...{ requests, turns, conversation, desk, firstQuestion, reportFailure, send },
    // A client that starts over brings its tools and fields anew; when code clears, the clients are still those they were.
    clear: (without) => {
      context.clear();
      clear(without);
    },
    clientTools: clientTools.tools,
    left: (connectionId) => clientTools.continuations.leave(connectionId)
  });
  const startSteps = new StartSteps(emit);
  return {
    ...{ config, conversation, turns, startSteps, resetTurns, clear },
    api: new ChatApi({ turns, conversation, context, ids, broadcast, settleOrphan }),
    clientTools: clientTools.tools,
    handlers: {
      start: () => startSteps.attempt("transcript-hydration", () => void conversation.messages),
      connect: (connectionId) => {
        host.connectionsChanged();
        transport.connect(connectionId);
      },
      disconnect: (connectionId) => {
        host.connectionsChanged();
        transport.disconnect(connectionId);
      },
      message: (connectionId, data) => transport.message(connectionId, data),
      request: (url) => transport.request(url)
    }
  };
}

/** What is stored: settings, conversation, stream and the last request's context. */
interface Stores {
  readonly config: ConfigStore;
  readonly conversation: Conversation;
  readonly stream: ResumableStream;
  readonly context: RequestContext;
}

function composeStores({ sql, clock, emit }: Host, overrides: AgentOverrides): Stores {
  const now = () => clock.now();
  const config = createConfigStore(sql);
  const conversation = createConversation({
    ...{ sql, config, emit, store: createMessageStore({ sql, now }) },
    hydrationByteBudget: overrides.hydrationByteBudget,
    media: { clock, setting: overrides.mediaEviction, files: overrides.attachments }
  });
  const stream = new ResumableStream({ store: createStreamStore({ sql, now }), now });
  return { config, conversation, stream, context: createRequestContext(config) };
}

interface TurnModules {
  readonly turns: Turns;
  readonly desk: ResumeDesk;
  readonly clientTools: ClientToolsModule;
  /** Makes a message of what an earlier isolate left unfinished, and tells clients. */
  readonly settleOrphan: () => void;
}

/** Turns, the resume desk and client tools need each other; each gets functions that reach the others when called. */
function composeTurns(
  host: Host,
  overrides: AgentOverrides,
  { conversation, stream, context }: Stores,
  reportFailure: ReportFailure
): TurnModules {
  const { clock, ids, broadcast, send, emit } = host;
  const announce = () =>
    broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), []);
  const settleOrphan = () => void (settleStream(stream, conversation) && announce());
  const responses = new ResponseHooks(overrides.onChatResponse);

  const desk = new ResumeDesk(stream, {
    send,
    message: (id) => conversation.get(id),
    settleOrphan,
    claim: (connectionId, activeRequestId) => clientTools.continuations.claim(connectionId, activeRequestId)
  });

  const loop: LoopAgent = {
    ...overrides.loop,
    emit,
    saveRepaired: (messages) => {
      for (const message of messages) conversation.put(message);
      announce();
    }
  };

  const sinkOptions = {
    ...{ stream, desk, conversation, broadcast, send, settleOrphan },
    foreignTool: (chunk: UIMessageChunk) => clientTools.updates.applyLate(chunk),
    opened: (turn: Turn) => clientTools.continuations.opened(turn.requestId)
  };
  const turns = new Turns({
    ...{ clock, ids, reportFailure },
    keepAlive: () => host.keepAlive(),
    openSink: (turn) => openChatSink(sinkOptions, turn),
    startModel: (turn) => runLoop(loop, { ...turn, messages: () => conversation.upTo(turn.parentId) }),
    responded: (response) => responses.deliver(response),
    idle: () => clientTools.stageFree()
  });
  const clientTools: ClientToolsModule = createClientTools({
    ...{ clock, ids, turns, stream, desk, conversation, context, broadcast },
    settleOrphan
  });
  return { turns, desk, clientTools, settleOrphan };
}
