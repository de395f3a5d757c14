/**
 * Builds the modules of one agent from its host and the author's overrides. The only place where they meet.
 */
import type { Host } from "./host/host";
import { runLoop, type LoopAgent } from "./loop/run-loop";
import { encodeFrame } from "./protocol/encode";
import { FRAME } from "./protocol/frames";
import { createConversation, type Conversation } from "./session/conversation";
import { createMessageStore } from "./session/message-store";
import { createConfigStore } from "./storage/config-store";
import { ResumableStream } from "./stream/resumable-stream";
import { ResumeDesk } from "./stream/resume-desk";
import { createStreamStore } from "./stream/stream-store";
import { ChatTransport } from "./transport/chat-transport";
import { openChatSink } from "./turn/chat-sink";
import { settleOrphan } from "./turn/settle-orphan";
import { Turns } from "./turn/turns";

export interface Modules {
  readonly conversation: Conversation;
  readonly turns: Turns;
  readonly transport: ChatTransport;
}

export function compose(host: Host, agent: LoopAgent): Modules {
  const { sql, clock, ids, broadcast, send } = host;
  const now = () => clock.now();
  const config = createConfigStore(sql);
  const conversation = createConversation({ sql, config, store: createMessageStore({ sql, now }) });
  const stream = new ResumableStream({ store: createStreamStore({ sql, now }), now });

  const settle = () => {
    if (!settleOrphan(stream, conversation)) return;
    broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), []);
  };

  const desk = new ResumeDesk(stream, {
    send,
    message: (id) => conversation.messages.find((message) => message.id === id),
    settleOrphan: settle
  });

  const turns = new Turns({
    clock,
    ids,
    keepAlive: () => host.keepAlive(),
    openSink: (turn) => openChatSink({ stream, desk, conversation, broadcast, send, settleOrphan: settle }, turn),
    startModel: (turn) => runLoop(agent, { messages: conversation.upTo(turn.parentId), signal: turn.signal })
  });

  const transport = new ChatTransport({ turns, conversation, stream, desk, broadcast, send });
  return { conversation, turns, transport };
}
