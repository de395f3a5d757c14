/**
 * Turns that code asks for: `chat()`, `saveMessages()`, `continueLastTurn()`, and adding messages without a turn. They go through
 * the same queue and sinks as a browser's request; connected clients see them like any other.
 */
import type { UIMessage } from "ai";
import { z } from "zod";
import { encodeFrame } from "../protocol/encode";
import { FRAME, type ClientToolSchema } from "../protocol/frames";
import type { ClientToolCall } from "../loop/client-tools";
import { firstIssue, messageSchema } from "../protocol/schema";
import type { Conversation } from "../session/conversation";
import type { Ids } from "../shared/clock";
import { ThinkError } from "../shared/errors/think-error";
import type { RequestContext } from "./request-context";
import { followWithCallback, type StreamCallback } from "./stream-callback";
import type { TurnResult } from "./turn";
import type { Turns } from "./turns";
import type { TurnRequest } from "./turn-parts";

/** Options of `chat()`. */
export interface ChatOptions {
  /** Stops the turn. Does not cross RPC; use `cancelChat(requestId)` there. */
  readonly signal?: AbortSignal;
  /** Tools that run on the caller's side, for this turn only. */
  readonly clientTools?: readonly ClientToolSchema[];
  /** Runs those tools; a throw becomes a tool error and the turn goes on. */
  readonly onClientToolCall?: (call: ClientToolCall) => unknown;
}

export interface SaveMessagesOptions {
  /** Stops the turn. */
  readonly signal?: AbortSignal;
}

/** How a programmatic turn ended. */
export interface SaveMessagesResult {
  readonly requestId: string;
  /** `skipped`: the conversation was cleared before the turn could matter, or there was nothing to continue. */
  readonly status: "completed" | "error" | "aborted" | "skipped";
  readonly error?: string;
}

/** Messages, or a function of the conversation at the moment the turn runs. */
export type MessagesInput =
  | readonly UIMessage[]
  | ((current: UIMessage[]) => readonly UIMessage[] | Promise<readonly UIMessage[]>);

export interface ChatApiOptions {
  readonly turns: Turns;
  readonly conversation: Conversation;
  readonly context: RequestContext;
  readonly ids: Ids;
  /** Makes a message of what an earlier isolate left unfinished: it comes before what is said now. */
  readonly settleOrphan: () => void;
  readonly broadcast: (frame: string, without: readonly string[]) => void;
}

const CLEARED = "The conversation was cleared before this turn ran.";

export class ChatApi {
  readonly #options: ChatApiOptions;
  /** The list will be sent when the stream has ended. */
  #isAnnouncing = false;

  constructor(options: ChatApiOptions) {
    this.#options = options;
  }

  async chat(
    input: string | UIMessage,
    callback: Partial<StreamCallback>,
    options: ChatOptions = {}
  ): Promise<void> {
    warnOfTools(options);
    this.#options.settleOrphan();
    const requestId = this.#options.ids.next();
    const { onClientToolCall } = options;
    const follower = followWithCallback(callback);
    const result = await this.#run({
      requestId,
      follower,
      signal: options.signal,
      clientTools: options.clientTools,
      ...(onClientToolCall
        ? { onClientToolCall: async (call: ClientToolCall) => onClientToolCall(call) }
        : {}),
      accepted: () => follower.started({ requestId }),
      prepare: () => this.#append([this.#userMessage(input)])
    });
    await follower.settled();
    if (result.status === "error") await follower.failed(result.error);
    if (result.status === "skipped") await follower.failed(CLEARED);
  }

  async saveMessages(input: MessagesInput, options: SaveMessagesOptions = {}): Promise<SaveMessagesResult> {
    const requestId = this.#options.ids.next();
    return toSaveResult(requestId, await this.runSaved(input, { requestId, ...options }));
  }

  /** The same for other modules: under a request id of theirs, in the name of an owner, with the whole result. */
  async runSaved(
    input: MessagesInput,
    options: Pick<TurnRequest, "requestId" | "ownerId" | "signal">
  ): Promise<TurnResult> {
    const { context, turns, conversation, settleOrphan } = this.#options;
    const { generation } = turns;
    settleOrphan();
    return this.#run({
      generation,
      ...options,
      clientTools: context.clientTools,
      body: context.body,
      prepare: async () => {
        const messages = typeof input === "function" ? await input([...conversation.messages]) : input;
        // The function form may take its time; a clear meanwhile makes its answer one to a conversation that is gone.
        return turns.generation === generation && this.#append(messages);
      }
    });
  }

  async continueLastTurn(
    body?: Readonly<Record<string, unknown>>,
    options: SaveMessagesOptions = {}
  ): Promise<SaveMessagesResult> {
    const { context, conversation, ids, settleOrphan } = this.#options;
    settleOrphan();
    const canContinue = () => conversation.messages.at(-1)?.role === "assistant";
    if (!canContinue()) return { requestId: "", status: "skipped" };
    const requestId = ids.next();
    const result = await this.#run({
      requestId,
      continuation: true,
      ...options,
      clientTools: context.clientTools,
      body: body ?? context.body,
      prepare: canContinue
    });
    return toSaveResult(requestId, result);
  }

  /** Stores messages without a turn. */
  addMessages(messages: readonly UIMessage[], parentId?: string): void {
    this.#options.settleOrphan();
    this.#options.conversation.append(checkMessages(messages), parentId === undefined ? {} : { parentId });
    if (!this.#options.turns.live) this.#announce();
    else if (!this.#isAnnouncing) void this.#announceAfterStream();
  }

  /** During a stream clients are not sent the list: it would lack what they are watching. */
  async #announceAfterStream(): Promise<void> {
    const { turns } = this.#options;
    this.#isAnnouncing = true;
    for (let live = turns.live; live; live = turns.live) await live.over;
    this.#isAnnouncing = false;
    this.#announce();
  }

  /** A turn that failed before the model answered is the caller's error; one that failed later has a result. */
  async #run(request: TurnRequest): Promise<TurnResult> {
    const result = await this.#options.turns.run(request);
    if (result.status === "error" && result.stage === "turn" && !request.follower) throw result.cause;
    return result;
  }

  #append(messages: readonly UIMessage[]): true {
    this.#options.conversation.append(checkMessages(messages));
    this.#announce();
    return true;
  }

  #announce(): void {
    const { conversation, broadcast } = this.#options;
    broadcast(encodeFrame({ type: FRAME.chatMessages, messages: conversation.messages }), []);
  }

  #userMessage(input: string | UIMessage): UIMessage {
    return typeof input === "string"
      ? { id: this.#options.ids.next(), role: "user", parts: [{ type: "text", text: input }] }
      : input;
  }
}

/** Code is not hostile, but it errs: a message that is none is told by what it lacks, before it is stored. */
function checkMessages(messages: readonly UIMessage[]): readonly UIMessage[] {
  const checked = z.array(messageSchema).safeParse(messages);
  if (checked.success) return messages;
  const expected =
    'Expected a list of messages like { id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }.';
  const problem = firstIssue(checked.error);
  throw new ThinkError(`These are not messages: ${problem}. ${expected}`, { code: "invalid-message" });
}

function toSaveResult(requestId: string, result: TurnResult): SaveMessagesResult {
  // An interrupted turn is carried on under another request; this one is over.
  const status = result.status === "interrupted" ? "aborted" : result.status;
  return { requestId, status, ...(result.status === "error" ? { error: result.error } : {}) };
}

/** An option of earlier releases; callers in plain JavaScript may still pass it. */
function warnOfTools(options: object): void {
  const tools = "tools" in options ? options.tools : undefined;
  if (typeof tools !== "object" || tools === null || Object.keys(tools).length === 0) return;
  console.warn(
    "[Think] chat() no longer accepts options.tools; they are ignored. Define tools in getTools() of the agent, or pass clientTools with onClientToolCall."
  );
}
