/** The tabs of one conversation. The first asks; all of them must get the whole answer. */

/** What the model is to say; the question carries it as JSON. */
export interface Plan {
  readonly deltas: number;
  /** Pause between two deltas, in ms. 0: none. */
  readonly pauseMs: number;
}

export interface Clients {
  /** Resolves when every client has the last frame. */
  ask(plan: Plan): Promise<void>;
  close(): void;
}

/** Longest answer beyond the model's own pauses, in ms. */
const PATIENCE = 120_000;

let questions = 0;

export async function connect(url: string, count: number): Promise<Clients> {
  const sockets = await Promise.all(Array.from({ length: count }, () => open(url)));
  return {
    async ask(plan) {
      const id = `question-${(questions += 1)}`;
      const answered = sockets.map((socket) => answer(socket, id, plan));
      sockets[0]?.send(question(id, plan));
      await Promise.all(answered);
    },
    close() {
      for (const socket of sockets) socket.close();
    }
  };
}

function open(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(socket), { once: true });
    socket.addEventListener("error", () => reject(new Error(`No socket at ${url}.`)), { once: true });
  });
}

function question(id: string, plan: Plan): string {
  const message = {
    id: `message-${id}`,
    role: "user",
    parts: [{ type: "text", text: JSON.stringify(plan) }]
  };
  const init = { method: "POST", body: JSON.stringify({ messages: [message] }) };
  return JSON.stringify({ type: "cf_agent_use_chat_request", id, init });
}

/** Frames are searched, not parsed: the clients run on the same machine. */
function answer(socket: WebSocket, id: string, { deltas, pauseMs }: Plan): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let seen = 0;
  const late = setTimeout(
    () => reject(new Error(`No end of the answer after ${seen} of ${deltas} deltas.`)),
    PATIENCE + 3 * deltas * pauseMs
  );
  const listen = ({ data }: MessageEvent<string>) => {
    if (!data.includes(id)) return;
    if (data.includes("text-delta")) seen += 1;
    if (!data.includes('"done":true')) return;
    if (seen === deltas) resolve();
    else reject(new Error(`The answer ended after ${seen} of ${deltas} deltas: ${data}`));
  };
  socket.addEventListener("message", listen);
  return promise.finally(() => {
    clearTimeout(late);
    socket.removeEventListener("message", listen);
  });
}
