/**
 * The line between one tab and the server: a proxy on a port of its own that the test can cut, as a lost network does,
 * or hold, so that a socket stays in the state "connecting". Plain requests (the history) always pass.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Longest wait for a text from the server (milliseconds). */
const PATIENCE = 30_000;
/** Longest text one can wait for (characters). */
const LONGEST_TEXT = 100;

export interface Line {
  readonly port: number;
  /** Breaks every open connection without a closing handshake. New ones pass. */
  readonly cut: () => void;
  /** Lets no new socket through until the returned function is called. */
  readonly hold: () => () => void;
  /** Resolves when the server next sends this text; rejects when it does not. */
  readonly hears: (text: string) => Promise<void>;
  /** Ends the line and all its connections. */
  readonly close: () => Promise<void>;
}

/** Opens a line to a server on this machine. */
export async function openLine(serverPort: number): Promise<Line> {
  const ends = new Set<Socket>();
  const ears = new Set<(heard: string) => void>();
  let held: Promise<void> | undefined;
  const proxy = createServer((near) => {
    const far = connect(serverPort, "127.0.0.1");
    for (const end of [near, far]) {
      ends.add(end);
      end.on("close", () => ends.delete(end));
      // A broken connection is what these tests are about; the clients notice by themselves.
      end.on("error", () => end.destroy());
    }
    join(near, far, {
      held: () => held,
      heard: (text) => {
        for (const listen of ears) listen(text);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("The system gave no port.");
  const cut = () => {
    for (const end of ends) end.destroy();
  };
  return {
    port: address.port,
    cut,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
    hears: (text) => hear(ears, text),
    async close() {
      cut();
      proxy.close();
      await once(proxy, "close");
    }
  };
}

interface Ends {
  /** Settles when sockets may pass; undefined when they may now. */
  readonly held: () => Promise<void> | undefined;
  /** Called with the last of what the server has sent on a socket. */
  readonly heard: (text: string) => void;
}

/** Passes data both ways. A connection may carry plain requests first and become a socket later: Node uses it again. */
function join(near: Socket, far: Socket, { held, heard }: Ends): void {
  let isSocket = false;
  let recent = "";
  near.on("data", (data: Buffer) => {
    const head = isSocket ? undefined : upgradeHead(data);
    if (head === undefined) {
      far.write(data);
      return;
    }
    isSocket = true;
    const pass = () => void far.write(head, "latin1");
    const wait = held();
    if (wait === undefined) pass();
    else void wait.then(pass);
  });
  far.on("data", (data: Buffer) => {
    near.write(data);
    if (!isSocket) return;
    // A text may arrive in two pieces.
    recent = recent.slice(-LONGEST_TEXT) + data.toString("latin1");
    heard(recent);
  });
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
}

/** The request for a socket, without the extension: then the server does not compress, and the line can listen. */
function upgradeHead(data: Buffer): string | undefined {
  const head = data.toString("latin1");
  return /^GET .*\r\n(?:.*\r\n)*upgrade:/iu.test(head)
    ? head.replace(/^sec-websocket-extensions:.*\r\n/imu, "")
    : undefined;
}

async function hear(ears: Set<(heard: string) => void>, text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const listen = (heard: string) => {
    if (heard.includes(text)) resolve(true);
  };
  const timer = setTimeout(() => resolve(false), PATIENCE);
  ears.add(listen);
  const isHeard = await promise;
  clearTimeout(timer);
  ears.delete(listen);
  if (!isHeard) throw new Error(`The server did not send ${text} in ${PATIENCE} ms.`);
}
