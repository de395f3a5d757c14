/**
 * Opens the WebSocket of a test client, through a `fetch` (inside workerd) or to an address (anywhere).
 * Called by the chat client only.
 */

/** Something that answers requests. */
export interface ChatFetcher {
  fetch(input: string, init: { readonly headers: Record<string, string> }): Response | Promise<Response>;
}

/** Something that answers requests, or the address of a server. */
export type ChatServer = ChatFetcher | string | URL;

export interface OpenSocket {
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  send(data: string): void;
  close(code: number, reason: string): void;
}

/** Opens a socket; `onMessage` is called for every message from the first one on. */
export async function openSocket(
  target: ChatServer,
  url: URL,
  headers: Readonly<Record<string, string>>,
  onMessage: (data: unknown) => void
): Promise<OpenSocket> {
  const socket = isAddress(target) ? connect(url) : await upgrade(target, url, headers);
  const closed = Promise.withResolvers<{ readonly code: number; readonly reason: string }>();
  socket.addEventListener("message", (event) => onMessage(event.data));
  socket.addEventListener("close", ({ code, reason }) => closed.resolve({ code, reason }));
  if (isAddress(target)) await opened(socket, url);
  else socket.accept();
  return {
    closed: closed.promise,
    send: (data) => socket.send(data),
    close: (code, reason) => socket.close(code, reason)
  };
}

/** Reads JSON from the same target over HTTP. */
export async function requestJson(
  target: ChatServer,
  url: URL,
  headers: Readonly<Record<string, string>>
): Promise<unknown> {
  const init = { headers: { ...headers } };
  const response = isAddress(target) ? await fetch(httpUrl(url), init) : await target.fetch(url.href, init);
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

function isAddress(target: ChatServer): target is string | URL {
  return typeof target === "string" || target instanceof URL;
}

function connect(url: URL): WebSocket {
  if (typeof WebSocket === "function") return new WebSocket(socketUrl(url));
  throw new Error(
    "connectChat() with an address needs a global WebSocket, which Node has from version 22 on. Use Node 22 or newer."
  );
}

async function upgrade(
  target: ChatFetcher,
  url: URL,
  headers: Readonly<Record<string, string>>
): Promise<WebSocket> {
  const response = await target.fetch(url.href, { headers: { ...headers, Upgrade: "websocket" } });
  if (response.webSocket !== null) return response.webSocket;
  const body = await response.text();
  throw new Error(
    `${url.pathname} answered ${response.status} instead of opening a WebSocket: ${body.slice(0, 200)}. ` +
      "Check the agent's class name, its binding and the Worker's routes."
  );
}

async function opened(socket: WebSocket, url: URL): Promise<void> {
  const ready = Promise.withResolvers<void>();
  socket.addEventListener("open", () => ready.resolve());
  socket.addEventListener("error", () =>
    ready.reject(new Error(`No WebSocket could be opened to ${url.href}.`))
  );
  await ready.promise;
}

function socketUrl(url: URL): string {
  return url.href.replace(/^http/u, "ws");
}

function httpUrl(url: URL): string {
  return url.href.replace(/^ws/u, "http");
}
