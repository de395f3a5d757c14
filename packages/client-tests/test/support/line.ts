/**
 * The line between one tab and the server: a proxy on a port of its own that the test can cut, as a lost network does,
 * or hold, so that a socket stays in the state "connecting". Plain requests (the history) always pass.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Line {
  readonly port: number;
  /** Breaks every open connection without a closing handshake. New ones pass. */
  readonly cut: () => void;
  /** Lets no new socket through until the returned function is called. */
  readonly hold: () => () => void;
  /** Resolves when the next socket has been let through. */
  readonly nextSocket: () => Promise<void>;
  /** Ends the line and all its connections. */
  readonly close: () => Promise<void>;
}

/** Opens a line to a server on this machine. */
export async function openLine(serverPort: number): Promise<Line> {
  const ends = new Set<Socket>();
  let held: Promise<void> | undefined;
  let arrived = Promise.withResolvers<void>();
  const track = (socket: Socket): Socket => {
    ends.add(socket);
    socket.on("close", () => ends.delete(socket));
    // A broken connection is what these tests are about; the clients notice by themselves.
    socket.on("error", () => socket.destroy());
    return socket;
  };
  const proxy = createServer((near) => {
    track(near).once("data", (head: Buffer) => {
      near.pause();
      const isSocket = /^upgrade:/imu.test(head.toString("latin1"));
      const pass = () => {
        forward(near, head, track(connect(serverPort, "127.0.0.1")));
        if (!isSocket) return;
        arrived.resolve();
        arrived = Promise.withResolvers<void>();
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
    nextSocket: () => arrived.promise,
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

function forward(near: Socket, head: Buffer, far: Socket): void {
  far.write(head);
  near.pipe(far);
  far.pipe(near);
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
}
