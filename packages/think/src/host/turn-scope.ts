/**
 * Which turn the running code belongs to, as asynchronous context: `stash()` inside a turn must reach that turn and no other, also while fibers
 * of the author run beside it.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const scope = new AsyncLocalStorage<{ readonly turn: object } | undefined>();

/** Runs a turn's work. */
export function withinTurn<Result>(turn: object, work: () => Promise<Result>): Promise<Result> {
  return scope.run({ turn }, work);
}

/** Runs work that does not belong to a turn although one started it, such as a fiber. */
export function outsideTurns<Result>(work: () => Promise<Result>): Promise<Result> {
  return scope.run(undefined, work);
}

/** Whether the running code belongs to a turn. */
export function isWithinTurn(): boolean {
  return scope.getStore() !== undefined;
}
