/**
 * The line between one tab and the server: a proxy on a port of its own that the test can cut, as a lost network does,
 * or hold, so that a socket stays in the state "connecting". Plain requests (the history) always pass.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Longest wait for a text from the server (milliseconds). */
const PATIENCE = 7000;
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
  let held: Promise<void> | undefined;
  const ears = new Set<(data: string) => void>();
  const track = (socket: Socket): Socket => {
    ends.add(socket);
    socket.on("close", () => ends.delete(socket));
    // A broken connection is what these tests are about; the clients notice by themselves.
    socket.on("error", () => socket.destroy());
    return socket;
  };
  const proxy = createServer((near) => {
    track(near).once("data", (data: Buffer) => {
      near.pause();
      // Without the extension the server does not compress, and the line can listen.
      const head = data.toString("latin1").replace(/^sec-websocket-extensions:.*\r\n/imu, "");
      const isSocket = /^upgrade:/imu.test(head);
      const pass = () => {
        const far = track(connect(serverPort, "127.0.0.1"));
        let heard = "";
        far.on("data", (data: Buffer) => {
          // A text may arrive in two pieces.
          heard = heard.slice(-LONGEST_TEXT) + data.toString("latin1");
          for (const listen of ears) listen(heard);
        });
        forward(near, head, far);
      };
      if (isSocket && held !== undefined) void held.then(pass);
      else pass();
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
    async hears(text) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const listen = (data: string) => void (data.includes(text) && resolve());
      const timer = setTimeout(
        () => reject(new Error(`The server did not send ${text} in ${PATIENCE} ms.`)),
        PATIENCE
      );
      ears.add(listen);
      await promise.finally(() => {
        clearTimeout(timer);
        ears.delete(listen);
      });
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
    async close() {
      cut();
      proxy.close();
      await once(proxy, "close");
    }
  };
}

function forward(near: Socket, head: string, far: Socket): void {
  far.write(head, "latin1");
  near.pipe(far);
  far.pipe(near);
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
}
