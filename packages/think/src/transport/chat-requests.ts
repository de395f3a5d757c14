/**
 * A chat request from a socket, step by step: concurrency decision, request context, messages stored, other tabs told, turn run.
 * Everything up to the queue is synchronous, so a burst of requests is admitted in order and each sees the ones before it.
 */
import type { Ids } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { LIMITS } from "../shared/limits";
import { createResponseEncoder, encodeFrame, type ResponseEnd } from "../protocol/encode";
import { FRAME, type ChatRequestBody, type ChatRequestFrame } from "../protocol/frames";
import type { Conversation } from "../session/conversation";
import type { ResumableStream } from "../stream/resumable-stream";
import type { ReportFailure } from "../turn/failures";
import type { RequestContext } from "../turn/request-context";
import type { MessageConcurrency, SubmitGate } from "../turn/submit-gate";
import type { Turns } from "../turn/turns";
import type { TurnRequest } from "../turn/turn-parts";
import type { FirstQuestion } from "./first-question";

export interface ChatRequestsOptions {
  readonly turns: Turns;
  readonly gate: SubmitGate;
  readonly policy: () => MessageConcurrency;
  readonly context: RequestContext;
  readonly conversation: Conversation;
  readonly stream: ResumableStream;
  readonly ids: Ids;
  /** Makes a message of what an earlier isolate left unfinished: it comes before what is said now. */
  readonly settleOrphan: () => void;
  readonly firstQuestion: FirstQuestion;
  readonly reportFailure: ReportFailure;
  readonly broadcast: (frame: string, without: readonly string[]) => void;
  readonly send: (connectionId: string, frame: string) => boolean;
}

/** What is told of a request at its end, whatever became of it. */
interface Origin {
  readonly requestId: string;
  readonly messageIds: readonly string[];
}

export class ChatRequests {
  readonly #options: ChatRequestsOptions;

  constructor(options: ChatRequestsOptions) {
    this.#options = options;
  }

  async handle(connectionId: string, { id, body }: ChatRequestFrame): Promise<void> {
    const { turns, broadcast } = this.#options;
    const { generation } = turns;
    const request = { requestId: id, messageIds: originOf(body) };
    const admitted = this.#admit(connectionId, request, body);
    if (!admitted) return;
    try {
      const result = await turns.run(admitted);
      if (result.status !== "skipped") return;
      // A clear ended it: the one who asked may be back as another connection, so everyone is told.
      if (turns.generation === generation) this.#end(connectionId, request, { outcome: "skipped" });
      else broadcast(endFrame(request, { outcome: "skipped" }), []);
    } catch (error) {
      // Storage failed where a turn begins or ends: it could not tell anyone itself.
      this.#fail(request, error, true);
    }
  }

  /** The turn to run, or nothing when the request is refused or failed; then the client has been told. */
  #admit(connectionId: string, request: Origin, body: ChatRequestBody): TurnRequest | undefined {
    const { turns, gate, policy, context, stream, settleOrphan } = this.#options;
    const regenerate = body.trigger === "regenerate-message";
    const admission = gate.admit(regenerate ? "queue" : policy(), turns.size > 0);
    if (admission.action === "drop") {
      this.#drop(connectionId, request);
      return undefined;
    }
    try {
      settleOrphan();
      stream.forgetFailure();
      context.accept(body);
      const parentId = this.#store(connectionId, body, regenerate);
      return {
        ...request,
        parentId,
        body: context.body,
        clientTools: context.clientTools,
        prepare: admission.mayRun,
        started: () => this.#showBranch(connectionId, parentId)
      };
    } catch (error) {
      this.#fail(request, error);
      return undefined;
    }
  }

  /** Stores the request's messages and tells the other tabs. Returns the branch point of a regeneration. */
  #store(connectionId: string, { messages }: ChatRequestBody, regenerate: boolean): string | undefined {
    const { conversation, broadcast, ids } = this.#options;
    // A list that ends with an earlier question in new words asks to go on from there: the old words stay as a branch.
    const edit = regenerate ? {} : { copyId: () => ids.next() };
    const { written, lastId } = conversation.receive(messages, edit);
    const without = this.#options.firstQuestion.asks(connectionId) ? [] : [connectionId];
    if (written > 0) {
      broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), without);
    }
    return regenerate ? lastId : undefined;
  }

  /** A regeneration goes on from an earlier message: the other tabs must not show its answer behind the one that it replaces. */
  #showBranch(connectionId: string, parentId: string | undefined): void {
    const { conversation, broadcast } = this.#options;
    const messages = conversation.upTo(parentId);
    if (messages.length === conversation.messages.length) return;
    broadcast(encodeFrame({ type: FRAME.chatMessages, messages }), [connectionId]);
  }

  /** The client shows its message already; the list takes it back. */
  #drop(connectionId: string, request: Origin): void {
    const { conversation, send } = this.#options;
    send(connectionId, encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }));
    this.#end(connectionId, request, { outcome: "skipped" });
  }

  /** Recorded before it is sent, so that a client that reconnects in between learns it too. */
  #fail(request: Origin, error: unknown, messagesPersisted = false): void {
    const { reportFailure, broadcast } = this.#options;
    const { requestId } = request;
    const stage = messagesPersisted ? "turn" : "persist";
    const { text } = reportFailure(error, { requestId, stage, messagesPersisted });
    this.#record(request, text);
    broadcast(endFrame(request, { outcome: "error", error: text }), []);
  }

  #record(request: Origin, error: string): void {
    const { stream, ids } = this.#options;
    // A running turn owns the stream's record; its own outcome matters more to those who reconnect.
    if (stream.isLive) return;
    const id = ids.next();
    try {
      stream.fail({ streamId: id, messageId: id, ...request, continuation: false }, error);
    } catch (failure) {
      console.error(`[Think] A failed request could not be recorded: ${errorText(failure)}`, failure);
    }
  }

  #end(connectionId: string, request: Origin, end: ResponseEnd): void {
    this.#options.send(connectionId, endFrame(request, end));
  }
}

function endFrame(request: Origin, end: ResponseEnd): string {
  return createResponseEncoder({ ...request, continuation: false }).end(end);
}

/** The ids of the user messages that a request ends with: one for a question, several when they were sent together. */
function originOf({ messages }: ChatRequestBody): readonly string[] {
  const before = messages.findLastIndex(({ role }) => role !== "user");
  return messages
    .slice(before + 1)
    .slice(-LIMITS.originMessageIds)
    .map(({ id }) => id);
}
