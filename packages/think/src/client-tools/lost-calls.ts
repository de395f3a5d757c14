/**
 * Calls that a turn was executing on the server when it died or was stopped, beside questions that were left to people or clients. Before
 * the next model call they would be repaired; but the continuation that makes it waits until every call has its outcome, and these never get
 * one. So when somebody has answered, they are settled as interrupted.
 *
 * I1. Only while no turn runs or waits: a turn's own calls are its own, and the next one repairs what it finds.
 * I2. A call is lost unless a client may answer it (it has brought the tool, or the agent has it without `execute`) or it was given to another
 *     agent: the continuation asks for that one itself. So a tool that is gone, or that `beforeTurn` had brought, holds nobody up.
 */
import type { UIMessage } from "ai";
import { isToolPart, toolNameOf, type ToolPart } from "../session/parts";
import { errorText } from "../shared/errors/error-text";
import { OPEN_CALL } from "./batch";

export interface LostCallsHost {
  readonly messages: () => readonly UIMessage[];
  /** Whether a turn runs or waits. */
  readonly isBusy: () => boolean;
  /** Names of the agent's own tools that clients execute. The author is asked for them. */
  readonly toolsOfClients: () => Promise<ReadonlySet<string>>;
  /** Whether a client has brought a tool of this name. */
  readonly isClients: (toolName: string) => boolean;
  readonly wasHandedOver: (toolCallId: string) => boolean;
  /** Settles these calls as interrupted, stores the messages and tells the clients. */
  readonly repair: (toolCallIds: ReadonlySet<string>) => void;
  /** Calls were settled: what waited for them may go on. */
  readonly settled: () => void;
}

export class LostCalls {
  readonly #host: LostCallsHost;

  constructor(host: LostCallsHost) {
    this.#host = host;
  }

  /** Somebody has answered, or the turn is over during which somebody did. Costs nothing when no call is open. */
  look(): void {
    if (this.#host.isBusy() || this.#candidates().length === 0) return;
    this.#settle().catch((error: unknown) =>
      console.error(`[Think] Interrupted tool calls could not be settled: ${errorText(error)}`, error)
    );
  }

  async #settle(): Promise<void> {
    const { toolsOfClients, isBusy, repair, settled } = this.#host;
    const clients = await toolsOfClients();
    if (isBusy()) return;
    const lost = this.#candidates().filter((part) => !clients.has(toolNameOf(part)));
    if (lost.length === 0) return;
    repair(new Set(lost.map(({ toolCallId }) => toolCallId)));
    settled();
  }

  /** The open calls of the latest answer that no client is known to execute: what the barrier waits for. */
  #candidates(): ToolPart[] {
    const { messages, isClients, wasHandedOver } = this.#host;
    const latest = messages().findLast((message) => message.role === "assistant");
    return (latest?.parts ?? [])
      .filter(isToolPart)
      .filter((part) => part.state === OPEN_CALL && !isClients(toolNameOf(part)))
      .filter((part) => !wasHandedOver(part.toolCallId));
  }
}
