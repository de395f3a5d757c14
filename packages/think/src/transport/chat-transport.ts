/**
 * Sockets and HTTP -> the chat. Decodes what arrives and calls the turn, the conversation and the resume desk; knows nothing of the Agent class.
 *
 * I1. Nothing a client sends can throw out of a handler.
 * I2. Every accepted request id gets exactly one terminal frame: from the turn, or from here when no turn came of it.
 */
import { createResponseEncoder, encodeFrame, type ResponseEnd } from "../protocol/encode";
import { FRAME, type ChatRequestFrame, type ClientFrame } from "../protocol/frames";
import { parseClientFrame } from "../protocol/parse";
import type { Conversation } from "../session/conversation";
import { errorText } from "../shared/errors/error-text";
import type { ResumableStream } from "../stream/resumable-stream";
import type { ResumeDesk } from "../stream/resume-desk";
import type { Turns } from "../turn/turns";

export interface ChatTransportOptions {
  readonly turns: Turns;
  readonly conversation: Conversation;
  readonly stream: ResumableStream;
  readonly desk: ResumeDesk;
  readonly broadcast: (frame: string, without: readonly string[]) => void;
  readonly send: (connectionId: string, frame: string) => boolean;
}

/** Whether a socket message was the chat's (`true`) or belongs to the agent's own handler. */
export type Consumed = boolean;

export class ChatTransport {
  readonly #options: ChatTransportOptions;

  constructor(options: ChatTransportOptions) {
    this.#options = options;
  }

  /** The first frames of a connection: an offer to join the running stream, or the messages. */
  connect(connectionId: string): void {
    const { desk, conversation, send } = this.#options;
    if (desk.greet(connectionId)) return;
    send(connectionId, encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages, connect: true }));
  }

  disconnect(connectionId: string): void {
    this.#options.desk.leave(connectionId);
  }

  async message(connectionId: string, data: unknown): Promise<Consumed> {
    const parsed = parseClientFrame(data);
    switch (parsed.kind) {
      case "foreign":
        return false;
      case "ignored":
        return true;
      case "invalid":
        if (parsed.requestId !== undefined) {
          this.#end(connectionId, parsed.requestId, { outcome: "error", error: parsed.reason });
        }
        return true;
      case "frame":
        await this.#handle(connectionId, parsed.frame);
        return true;
    }
  }

  /** The chat's own HTTP route, or undefined when the request is not for it. */
  request(url: string): Response | undefined {
    return new URL(url).pathname.endsWith("/get-messages") ? Response.json(this.#options.conversation.messages) : undefined;
  }

  /** Forgets the conversation and everything about it. */
  clear(without: readonly string[] = []): void {
    const { turns, stream, desk, conversation, broadcast } = this.#options;
    turns.reset();
    stream.clear();
    desk.release();
    conversation.clear();
    broadcast(encodeFrame({ type: FRAME.chatClear }), without);
  }

  #handle(connectionId: string, frame: ClientFrame): void | Promise<void> {
    const { turns, desk } = this.#options;
    switch (frame.type) {
      case FRAME.chatRequest:
        return this.#chat(connectionId, frame);
      case FRAME.chatCancel:
        return turns.cancel(frame.id);
      case FRAME.chatClear:
        return this.clear([connectionId]);
      case FRAME.resumeRequest:
        return desk.request(connectionId, frame.probeId);
      case FRAME.resumeAck:
        return desk.acknowledge(connectionId, frame.id);
      case FRAME.chatMessages:
        return;
    }
  }

  async #chat(connectionId: string, { id, body }: ChatRequestFrame): Promise<void> {
    const { turns, stream, conversation, broadcast } = this.#options;
    const { generation } = turns;
    try {
      stream.forgetFailure();
      const added = conversation.merge(body.messages);
      if (added > 0) {
        broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), [connectionId]);
      }
      const parentId = body.trigger === "regenerate-message" ? body.messages.at(-1)?.id : undefined;
      const result = await turns.run({ requestId: id, generation, parentId });
      if (result.status === "skipped") this.#end(connectionId, id, { outcome: "skipped" });
    } catch (error) {
      this.#end(connectionId, id, { outcome: "error", error: errorText(error) });
    }
  }

  #end(connectionId: string, requestId: string, end: ResponseEnd): void {
    this.#options.send(connectionId, createResponseEncoder({ requestId, continuation: false }).end(end));
  }
}
