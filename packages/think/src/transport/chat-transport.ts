/**
 * Sockets and HTTP -> the chat. Decodes what arrives and calls the turn, the conversation and the resume desk; knows nothing of the Agent class.
 *
 * I1. Nothing a client sends can throw out of a handler.
 * I2. Every accepted request id gets exactly one terminal frame: from the turn, or from here when no turn came of it.
 */
import type { UIMessage } from "ai";
import type { ClientTools } from "../client-tools/client-tools";
import { createResponseEncoder, encodeFrame, type ResponseEnd } from "../protocol/encode";
import { FRAME, type ClientFrame } from "../protocol/frames";
import { parseClientFrame } from "../protocol/parse";
import type { Conversation } from "../session/conversation";
import { errorText } from "../shared/errors/error-text";
import { ThinkError } from "../shared/errors/think-error";
import type { ResumeDesk } from "../stream/resume-desk";
import type { ReportFailure } from "../turn/failures";
import type { Turns } from "../turn/turns";
import type { ChatRequests } from "./chat-requests";
import type { FirstQuestion } from "./first-question";

export interface ChatTransportOptions {
  readonly requests: ChatRequests;
  readonly turns: Turns;
  readonly conversation: Conversation;
  /** The path of a named session; throws when there is none. */
  readonly history: (sessionId: string) => readonly UIMessage[];
  readonly desk: ResumeDesk;
  readonly firstQuestion: FirstQuestion;
  readonly clientTools: ClientTools;
  /** A connection has got the messages: what else is to be said to it? */
  readonly greeted: (connectionId: string) => void;
  /** A connection is gone. */
  readonly left: (connectionId: string) => void;
  readonly reportFailure: ReportFailure;
  /** Forgets the conversation and everything about it; the named connection is not told. */
  readonly clear: (without: readonly string[]) => void;
  readonly send: (connectionId: string, frame: string) => boolean;
}

export class ChatTransport {
  readonly #options: ChatTransportOptions;

  constructor(options: ChatTransportOptions) {
    this.#options = options;
  }

  /** The first frames of a connection: an offer to join the running stream, or the messages. */
  connect(connectionId: string): void {
    if (this.#options.desk.greet(connectionId)) return;
    this.#sendList(connectionId, { connect: true });
    this.#options.greeted(connectionId);
  }

  disconnect(connectionId: string): void {
    this.#options.desk.leave(connectionId);
    this.#options.firstQuestion.leave(connectionId);
    this.#options.left(connectionId);
  }

  /** Returns whether the message was the chat's; otherwise it belongs to the agent's own handler. */
  async message(connectionId: string, data: unknown): Promise<boolean> {
    const parsed = parseClientFrame(data);
    switch (parsed.kind) {
      case "foreign":
        return false;
      case "ignored":
        return true;
      case "invalid":
        this.#refuse(connectionId, parsed.requestId, parsed.reason);
        return true;
      case "frame":
        await this.#handle(connectionId, parsed.frame);
        return true;
    }
  }

  /** The chat's own HTTP route, or undefined when the request is not for it. */
  request(url: string): Response | undefined {
    const { pathname, searchParams } = new URL(url);
    if (!pathname.endsWith("/get-messages")) return undefined;
    const sessionId = searchParams.get("sessionId");
    if (sessionId === null) return Response.json(this.#options.conversation.messages);
    try {
      return Response.json(this.#options.history(sessionId));
    } catch (error) {
      return Response.json({ error: errorText(error) }, { status: ThinkError.is(error) ? 404 : 500 });
    }
  }

  #handle(connectionId: string, frame: ClientFrame): void | Promise<void> {
    const { turns, desk, requests, clientTools, firstQuestion, clear } = this.#options;
    switch (frame.type) {
      case FRAME.chatRequest:
        return requests.handle(connectionId, frame);
      case FRAME.chatCancel:
        return turns.cancel(frame.id);
      case FRAME.chatClear:
        return clear([connectionId]);
      case FRAME.resumeRequest:
        if (firstQuestion.resumes(connectionId, frame.probeId)) this.#sendList(connectionId);
        return desk.request(connectionId, frame.probeId);
      case FRAME.resumeAck:
        return desk.acknowledge(connectionId, frame.id);
      case FRAME.toolResult:
        return clientTools.result(connectionId, frame);
      case FRAME.toolApproval:
        return clientTools.approval(connectionId, frame);
      case FRAME.chatMessages:
        return;
    }
  }

  #sendList(connectionId: string, flags: { readonly connect?: true } = {}): void {
    const { conversation, send } = this.#options;
    send(connectionId, encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages, ...flags }));
  }

  #refuse(connectionId: string, requestId: string | undefined, reason: string): void {
    if (requestId === undefined) return;
    const error = new ThinkError(reason, { code: "invalid-request" });
    const { text } = this.#options.reportFailure(error, {
      requestId,
      stage: "parse",
      messagesPersisted: false
    });
    const end: ResponseEnd = { outcome: "error", error: text };
    this.#options.send(connectionId, createResponseEncoder({ requestId, continuation: false }).end(end));
  }
}
