/**
 * A WebSocket client for tests that speaks the chat protocol and records every frame. `connectChat` is its
 * only entrance. It keeps no conversation of its own: what it knows is what the server told it.
 */
import type { UIMessage, UIMessageChunk } from "ai";
import { FRAME, type ClientToolSchema } from "../protocol/frames";
import { agentUrl, type AgentAddress } from "./agent-url";
import { followTurn, type ChatTurn } from "./chat-turn";
import { chunksIn, FrameLog, type FrameMatch, type ReceivedFrame, type WaitOptions } from "./frame-log";
import { openSocket, requestJson, type ChatFetcher, type ChatServer } from "./open-socket";
import { defaultTimeout } from "./patience";

/** A Durable Object namespace: connecting to it reaches an agent past the Worker's routes. */
export interface ChatNamespace {
  getByName(name: string): ChatFetcher;
}

/** How to connect to an agent of a namespace. */
export interface NamespaceConnectOptions extends Omit<AgentAddress, "agent"> {
  /** Headers of the upgrade request; ignored when connecting to an address. Default none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds each wait may take. Default: that of {@link setDefaultTimeout}, 4000. */
  readonly timeout?: number;
}

/** Where and how to connect through a Worker. */
export interface ConnectOptions extends NamespaceConnectOptions, AgentAddress {}

export interface ChatRequestOptions {
  /** The request id. Default `request-1`, `request-2`, … with a random end. */
  readonly id?: string;
  /** Custom fields of the request body. Default none. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Tools that run in the client. Default: the field is left out. */
  readonly clientTools?: readonly ClientToolSchema[];
  /** Default `"submit-message"`. */
  readonly trigger?: "submit-message" | "regenerate-message";
}

export interface ResumeOptions {
  /** False: send no request, only answer the offer the server made on its own, e.g. on connecting. Default true. */
  readonly request?: boolean;
  /** An id the server echoes in its answer. Default none. */
  readonly probeId?: string;
}

/** The answer to a client tool call. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output?: unknown;
  /** Set to report a failure instead of an output. */
  readonly errorText?: string;
  /** Whether the server goes on by itself once all results are in. Default true, false for a failure. */
  readonly autoContinue?: boolean;
  readonly clientTools?: readonly ClientToolSchema[];
}

/** A test client, connected. */
export interface ChatClient extends Disposable {
  readonly url: URL;
  /** Every frame received, in order. */
  readonly frames: readonly ReceivedFrame[];
  /** The last message list the server sent; empty before the first. */
  readonly messages: readonly UIMessage[];
  /** Resolves when the socket is closed by either side. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Sends a frame; a string is sent as it is. */
  send(frame: string | Readonly<Record<string, unknown>>): void;
  /** Sends a chat request: a text becomes one user message, a list is sent as it is. */
  chat(input: string | readonly UIMessage[], options?: ChatRequestOptions): ChatTurn;
  /** Asks for the stream in progress and accepts it. Undefined when there is none; else the turn from its replay on. */
  resume(options?: ResumeOptions): Promise<ChatTurn | undefined>;
  /** Follows a turn this client did not start, from the first recorded frame of that id on. */
  follow(id: string): ChatTurn;
  /** Answers a client tool call. */
  toolResult(result: ToolResult): void;
  /** Approves or rejects a tool call. */
  toolApproval(toolCallId: string, approved: boolean, options?: { readonly autoContinue?: boolean }): void;
  /** Clears the conversation. The server tells the other clients, not this one. */
  clear(): void;
  /** The first frame that matches, already received or still to come. */
  waitFor(match: FrameMatch, options?: WaitOptions): Promise<ReceivedFrame>;
  /** The chunks received for one request id, live and replayed, in order. */
  chunksOf(id: string): readonly UIMessageChunk[];
  /** The stored conversation over HTTP, as a client loads it. */
  history(): Promise<readonly UIMessage[]>;
  /** Closes the socket and waits until the server has confirmed it, one second at most. */
  close(code?: number, reason?: string): Promise<void>;
}

const longestClose = 1000;

/**
 * Connects to an agent of a namespace, such as `env.Assistant`.
 *
 * @example
 * const client = await connectChat(env.Assistant, { name: "ada" });
 * const { text } = await client.chat("Hello").done;
 */
export async function connectChat(
  namespace: ChatNamespace,
  options?: NamespaceConnectOptions
): Promise<ChatClient>;
/**
 * Connects to an agent through a Worker, its routes and checks included. The target is something with a
 * `fetch` (in a workers test: `exports.default`), or the address of a running server.
 */
export async function connectChat(target: ChatServer, options: ConnectOptions): Promise<ChatClient>;
export async function connectChat(
  target: ChatNamespace | ChatServer,
  options: NamespaceConnectOptions & Partial<AgentAddress> = {}
): Promise<ChatClient> {
  const { headers = {}, name = "default", agent = "agent" } = options;
  const server = isServer(target) ? target : target.getByName(name);
  const base = typeof server === "string" || server instanceof URL ? server : "https://agent.test";
  const url = agentUrl(base, { ...options, agent });
  const log = new FrameLog(options.timeout ?? defaultTimeout());
  const socket = await openSocket(server, url, headers, (data) => log.record(data));
  void socket.closed.then(({ code }) => log.end(`The socket was closed with code ${code}`));
  return chatClient({
    url,
    log,
    socket,
    history: () => requestJson(server, messagesUrl(url), headers)
  });
}

function isServer(target: ChatNamespace | ChatServer): target is ChatServer {
  return typeof target === "string" || target instanceof URL || "fetch" in target;
}

interface ClientParts {
  readonly url: URL;
  readonly log: FrameLog;
  readonly socket: Awaited<ReturnType<typeof openSocket>>;
  history(): Promise<unknown>;
}

function chatClient({ url, log, socket, history }: ClientParts): ChatClient {
  const send: ChatClient["send"] = (frame) =>
    socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  const cancel = (id: string) => send({ type: FRAME.chatCancel, id });
  const turnFrom = (id: string, from: number) => followTurn({ id, log, from, cancel: () => cancel(id) });
  let requests = 0;
  const close: ChatClient["close"] = async (code = 1000, reason = "") => {
    socket.close(code, reason);
    // A server that is gone does not confirm; nobody should wait for it for long.
    await Promise.race([socket.closed, new Promise((resolve) => setTimeout(resolve, longestClose))]);
  };
  return {
    url,
    frames: log.frames,
    closed: socket.closed,
    get messages() {
      return log.frames.findLast((frame) => frame.type === FRAME.chatMessages)?.messages ?? [];
    },
    send,
    chat(input, options = {}) {
      requests += 1;
      const id = options.id ?? `request-${requests}-${crypto.randomUUID().slice(0, 8)}`;
      const turn = turnFrom(id, log.frames.length);
      send(requestFrame(id, input, options));
      return turn;
    },
    async resume(options = {}) {
      const id = await offeredStream(log, send, options);
      if (id === undefined) return undefined;
      return turnFrom(id, await acknowledge(log, send, id));
    },
    follow: (id) => turnFrom(id, 0),
    toolResult: (result) => send(toolResultFrame(result)),
    toolApproval: (toolCallId, approved, { autoContinue = true } = {}) =>
      send({ type: FRAME.toolApproval, toolCallId, approved, autoContinue }),
    clear: () => send({ type: FRAME.chatClear }),
    waitFor: (match, options) => log.waitFor(match, options),
    chunksOf: (id) =>
      chunksIn(log.frames.filter((frame) => frame.type === FRAME.chatResponse && frame.id === id)),
    async history() {
      const messages = await history();
      if (!Array.isArray(messages))
        throw new Error(`${url.pathname}/get-messages did not answer with a list.`);
      return messages;
    },
    close,
    [Symbol.dispose]: () => void close()
  };
}

/** The resume handshake up to the server's offer: the request id, or undefined when it has nothing to offer. */
async function offeredStream(log: FrameLog, send: ChatClient["send"], options: ResumeOptions) {
  const { request = true, probeId } = options;
  const from = request ? log.frames.length : 0;
  if (request) send({ type: FRAME.resumeRequest, ...(probeId === undefined ? {} : { probeId }) });
  const answer = await log.waitFor(
    (frame) => frame.type === FRAME.resuming || (request && frame.type === FRAME.resumeNone),
    { from, wanted: "an offer to resume a stream" }
  );
  return answer.type === FRAME.resuming ? answer.id : undefined;
}

/**
 * Accepts the offer; gives the position where the replay begins. Frames before it belong to the live stream: it
 * may end while the acknowledgement is on its way, and that end is then told once more after the replay.
 */
async function acknowledge(log: FrameLog, send: ChatClient["send"], id: string): Promise<number> {
  const from = log.frames.length;
  send({ type: FRAME.resumeAck, id });
  const first = await log.waitFor(
    (frame) => frame.id === id && (frame.replay === true || frame.error === true),
    {
      from,
      wanted: `the replay of turn ${id}`
    }
  );
  return log.frames.indexOf(first, from);
}

function requestFrame(id: string, input: string | readonly UIMessage[], options: ChatRequestOptions) {
  const { body = {}, clientTools, trigger = "submit-message" } = options;
  const messages = typeof input === "string" ? [userMessage(input)] : input;
  const content = { ...body, messages, trigger, ...(clientTools === undefined ? {} : { clientTools }) };
  return { type: FRAME.chatRequest, id, init: { method: "POST", body: JSON.stringify(content) } };
}

/** A user message with one text part. The id is random unless given. */
export function userMessage(text: string, id: string = crypto.randomUUID()): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

function toolResultFrame({ errorText, autoContinue, ...result }: ToolResult) {
  const failed = errorText !== undefined;
  return {
    type: FRAME.toolResult,
    ...result,
    ...(failed ? { state: "output-error", errorText } : { state: "output-available" }),
    autoContinue: autoContinue ?? !failed
  };
}

function messagesUrl(url: URL): URL {
  const target = new URL(url);
  target.pathname = `${target.pathname}/get-messages`;
  return target;
}
