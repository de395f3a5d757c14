/**
 * A point in a script at which the model waits until the test lets it go on. The gate is the
 * deterministic replacement of a sleep: `await held.reached`, look at the world, `held.open()`.
 * Placed in scripts by tests, awaited by the script player.
 *
 * Invariant: nobody awaits a promise that another side resolves. Test and agent share an isolate but not an
 * I/O context; a continuation runs in the context that resolved its promise, and there every later use of
 * the own sockets or storage fails. So each side looks at plain flags, on timers of its own.
 */
import { defaultTimeout } from "./patience";
import { poll } from "./poll";

export interface GateOptions {
  /** Milliseconds {@link Gate.reached} waits for the model. Default: that of {@link setDefaultTimeout}, 4000. */
  readonly timeout?: number;
}

/** A gate: put it into a script as a part, await {@link Gate.reached}, then {@link Gate.open} it. */
export interface Gate {
  readonly type: "gate";
  /** Resolves when a model call has arrived at this gate; rejects when none does in time. */
  readonly reached: Promise<void>;
  /** True once the gate was opened. */
  readonly isOpen: boolean;
  /** Lets every call that waits here, now or later, go on. */
  open(): void;
  /** Waits for the gate; called by the model. Rejects with the abort reason when the signal fires first. */
  wait(signal?: AbortSignal): Promise<void>;
}

/** A model left waiting longer than this was forgotten; failing beats keeping its object busy for ever. */
const longestWait = 60_000;

/** Makes a closed gate. */
export function gate({ timeout = defaultTimeout() }: GateOptions = {}): Gate {
  let isReached = false;
  let isOpen = false;
  return {
    type: "gate",
    get reached() {
      return poll(() => isReached, {
        timeout,
        failure: `No model call reached the gate within ${timeout} ms.`
      });
    },
    get isOpen() {
      return isOpen;
    },
    open() {
      isOpen = true;
    },
    wait(signal) {
      isReached = true;
      const failure = `The gate was not opened within ${longestWait} ms. Call open() in the test.`;
      return poll(() => isOpen, { timeout: longestWait, failure, signal });
    }
  };
}
