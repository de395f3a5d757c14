/**
 * The line from a child to its parent's bridge: opens it for one use, bounds the time, disposes the stub. Used by `parent-bridge.ts` and
 * `remote-workspace.ts`.
 *
 * I1. No stub outlives its use: one that is held keeps the parent in memory.
 * I2. Only a failure of the line itself is `parent-lost`; what the parent answered is an answer.
 */
import type { Clock } from "../shared/clock";
import { errorText } from "../shared/errors/error-text";
import { ThinkError } from "../shared/errors/think-error";
import type { RemoteToolBridge } from "./bridge-protocol";

/** Reaches the parent's bridge, for example `async () => (await this.parentAgent(Parent)).toolBridge()`. */
export type OpenBridge = () => PromiseLike<RemoteToolBridge>;

export interface LineUse {
  /** For the error: `the tool "search"`. */
  readonly what: string;
  /** Longest time, opening included, in ms. */
  readonly timeoutMs: number;
  /** Whether it may be done twice. Then a lost parent is tried once more. Default: false. */
  readonly repeatable?: boolean;
}

export class BridgeLine {
  readonly #open: OpenBridge;
  readonly #clock: Clock;

  constructor(open: OpenBridge, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
  }

  async use<Result>(work: (bridge: RemoteToolBridge) => Promise<Result>, use: LineUse): Promise<Result> {
    try {
      return await this.#once(work, use);
    } catch (error) {
      if (use.repeatable !== true || ThinkError.is(error)) throw lost(use, error);
    }
    try {
      return await this.#once(work, use);
    } catch (error) {
      throw lost(use, error);
    }
  }

  async #once<Result>(
    work: (bridge: RemoteToolBridge) => Promise<Result>,
    { timeoutMs }: LineUse
  ): Promise<Result> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = this.#clock.setTimer(
      () => reject(new Error(`no answer within ${timeoutMs} ms`)),
      timeoutMs
    );
    let isOver = false;
    let bridge: RemoteToolBridge | undefined;
    const run = async () => {
      const opened = await this.#open();
      if (!isOver) return work((bridge = opened));
      dispose(opened);
      return late;
    };
    try {
      return await Promise.race([run(), late]);
    } finally {
      isOver = true;
      timer.cancel();
      dispose(bridge);
    }
  }
}

/** Gives back what RPC keeps alive for us. Plain values have nothing to give back. */
export function dispose(value: object | undefined): void {
  const release: unknown = value && Symbol.dispose in value ? value[Symbol.dispose] : undefined;
  if (typeof release === "function") release.call(value);
}

function lost({ what, repeatable }: LineUse, cause: unknown): ThinkError {
  if (ThinkError.is(cause)) return cause;
  const doubt = repeatable === true ? "" : " Whether it took effect is unknown.";
  return new ThinkError(
    `The parent was lost during ${what}: ${errorText(cause)}.${doubt} It is reached again with the next call.`,
    { code: "parent-lost", retryable: repeatable === true, cause }
  );
}
