/** Lets clients call methods over the socket. A function, not a decorator: every build that takes this source would have to lower it. */
import { callable } from "agents";

type Method = (...args: never[]) => unknown;

export function markCallable<Name extends string>(
  prototype: Readonly<Record<Name, Method>>,
  names: readonly Name[]
): void {
  // The decorator looks only at the function.
  for (const name of names) callable()(prototype[name], undefined as never);
}
