/** The agent of the wire tests: the turn tests' agent, with handlers of its own behind the chat's. */
import type { Connection } from "agents";
import { TurnAgent } from "./turn-agents";

declare global {
  namespace Cloudflare {
    interface Env {
      readonly WireAgent: DurableObjectNamespace<WireAgent>;
    }
  }
}

export class WireAgent extends TurnAgent {
  /** These tests are about what happens without recovery; `recovery-*.test.ts` are about what happens with it. */
  override chatRecovery = false;

  /** What the agent's own handlers saw. */
  readonly seen: string[] = [];

  override onConnect(connection: Connection): void {
    connection.send(JSON.stringify({ type: "greeting" }));
  }

  override onMessage(_connection: Connection, message: unknown): void {
    this.seen.push(typeof message === "string" ? message : "bytes");
  }

  override onClose(): void {
    this.seen.push("closed");
  }

  override onRequest(): Response {
    return new Response("mine");
  }
}
