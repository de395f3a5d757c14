/**
 * Start-up work that must not be able to stop an agent from starting: an exception out of start-up would fail every later wake and
 * alarm again. A step that fails is recorded, logged and reported, and the agent comes up without it.
 */
import type { Emit } from "../observability/events";
import { errorText } from "../shared/errors/error-text";

/** The steps of start-up that may fail. */
export type StartStep =
  | "session-configuration"
  | "transcript-hydration"
  | "scheduled-task-reconcile"
  | "durable-work-recovery";

/** A step of the last start-up that failed. */
export interface OnStartDegradation {
  readonly step: StartStep;
  readonly error: unknown;
}

export class StartSteps {
  readonly #emit: Emit;
  readonly #failed: OnStartDegradation[] = [];

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** What failed since the object woke. */
  get degradations(): readonly OnStartDegradation[] {
    return this.#failed;
  }

  async attempt(step: StartStep, work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#degrade(step, error);
    }
  }

  #degrade(step: StartStep, error: unknown): void {
    this.#failed.push({ step, error });
    console.error(`[Think] Start-up goes on without ${step}: ${errorText(error)}`, error);
    this.#emit("chat:onstart:degraded", { step, error: errorText(error) });
  }
}
