/**
 * Puts the chat in front of an agent's handlers. The base constructor has already wrapped the author's overrides and assigned them to the
 * instance; this wraps them once more, so the chat sees every event first and hands on what is not its own.
 */
import { parseSubAgentPath, type Agent, type Connection } from "agents";

export type ChatAgent = Pick<
  Agent,
  | "onStart"
  | "onConnect"
  | "onMessage"
  | "onClose"
  | "onRequest"
  | "onFiberRecovered"
  | "getConnections"
  | "parentPath"
>;

/** Fibers in which the published package ran its turns; the turn itself is found by its stream. */
const PUBLISHED_TURN = "__cf_internal_chat_turn:";

/** The chat's side of the sockets and routes. */
export interface ChatHandlers {
  /** Runs before the author's `onStart`; must not throw. */
  start(): Promise<void>;
  connect(connectionId: string): void;
  message(connectionId: string, data: unknown): Promise<boolean>;
  /** A socket is closed. `isBack`: its client has another one under the same id already. */
  disconnect(connectionId: string, isBack: boolean): void;
  request(url: string): Response | undefined;
}

export function installChat(agent: ChatAgent, chat: ChatHandlers): void {
  const onStart = agent.onStart.bind(agent);
  const onConnect = agent.onConnect.bind(agent);
  const onMessage = agent.onMessage.bind(agent);
  const onClose = agent.onClose.bind(agent);
  const onRequest = agent.onRequest.bind(agent);

  agent.onStart = async (props) => {
    await chat.start();
    return onStart(props);
  };

  agent.onConnect = async (connection, context) => {
    if (!targetsChild(context.request.url)) chat.connect(connection.id);
    return onConnect(connection, context);
  };

  agent.onMessage = async (connection, message) => {
    if (!targetsChild(connection.uri) && (await chat.message(connection.id, message))) return;
    return onMessage(connection, message);
  };

  agent.onClose = async (connection, code, reason, wasClean) => {
    chat.disconnect(connection.id, isBack(agent, connection));
    return onClose(connection, code, reason, wasClean);
  };

  const onFiberRecovered = agent.onFiberRecovered.bind(agent);
  agent.onFiberRecovered = async (fiber) =>
    fiber.name.startsWith(PUBLISHED_TURN) ? undefined : onFiberRecovered(fiber);

  agent.onRequest = async (request) => chat.request(request.url) ?? onRequest(request);
}

/** A lost network is noticed late: the client may be back under the same id, and must not be taken for gone. A child's sockets are the root's. */
function isBack(agent: ChatAgent, closed: Connection): boolean {
  if (agent.parentPath.length > 0) return false;
  return [...agent.getConnections(closed.id)].some((other) => other !== closed && other.id === closed.id);
}

/** A child's socket is held by the root object but belongs to the child: the root's chat must not answer it. */
function targetsChild(uri: string | null): boolean {
  return uri !== null && parseSubAgentPath(uri) !== null;
}
