/**
 * What clients answer to tool calls: takes the frames, changes the tool parts and lets the model go on. The transport hands over the
 * frames; the class asks whether somebody is still being asked.
 *
 * I1. When a frame has been handled, its answer is stored and the continuation it asks for exists: the client's next frame may ask for it.
 */
import type { ToolApprovalFrame, ToolResultFrame } from "../protocol/frames";
import { errorText } from "../shared/errors/error-text";
import type { RequestContext } from "../turn/request-context";
import type { ToolUpdates } from "./apply";
import type { Continuations } from "./continuations";
import type { LostCalls } from "./lost-calls";
import type { Stability } from "./stability";
import type { ToolUpdate } from "./tool-updates";

export interface ClientToolsOptions {
  readonly updates: ToolUpdates;
  readonly continuations: Continuations;
  readonly context: RequestContext;
  readonly stability: Stability;
  readonly lostCalls: LostCalls;
  /** Whether a person or a client still has to answer. */
  readonly hasOpenQuestion: () => boolean;
}

export class ClientTools {
  readonly #options: ClientToolsOptions;

  constructor(options: ClientToolsOptions) {
    this.#options = options;
  }

  /** A client ran a tool. */
  result(connectionId: string, frame: ToolResultFrame): void {
    const failed = frame.state === "output-error";
    const update: ToolUpdate = failed
      ? { kind: "failure", errorText: frame.errorText }
      : { kind: "result", output: frame.output };
    this.#safely(() => this.#options.context.acceptTools(frame.clientTools));
    this.#answer(connectionId, frame, update);
  }

  /** A person allowed or refused a call. */
  approval(connectionId: string, frame: ToolApprovalFrame): void {
    this.#answer(connectionId, frame, { kind: "approval", approved: frame.approved });
  }

  /** Whether an approval or a call of a client tool is unanswered. A server tool that was interrupted does not count. */
  hasPendingInteraction(): boolean {
    return this.#options.hasOpenQuestion();
  }

  /** Waits until no turn runs, none is about to, and nobody is being asked. False when `timeout` (ms; default: none) passes first. */
  waitUntilStable({ timeout }: { readonly timeout?: number | undefined } = {}): Promise<boolean> {
    return this.#options.stability.wait(timeout);
  }

  #answer(connectionId: string, frame: ToolResultFrame | ToolApprovalFrame, update: ToolUpdate): void {
    const { updates, continuations, stability, lostCalls } = this.#options;
    this.#safely(() => updates.apply(frame.toolCallId, update));
    continuations.answered(connectionId, frame.autoContinue === true);
    stability.changed();
    lostCalls.look();
  }

  /** An answer that cannot be stored leaves its call open; the next frame must not suffer for it. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      console.error(`[Think] A tool answer could not be stored: ${errorText(error)}`, error);
    }
  }
}
