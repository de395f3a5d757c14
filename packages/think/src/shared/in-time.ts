/**
 * Foreign work, such as a hook of the author or a provider, with a time limit. It cannot be stopped: when it is late nobody waits for it any
 * more, and what it gives or throws then is ignored.
 */
import type { Clock } from "./clock";

/** What `work` gives; rejects with `late()` when that takes longer than `ms`. */
export async function inTime<Value>(
  clock: Clock,
  work: Value | Promise<Value>,
  { ms, late }: { readonly ms: number; readonly late: () => Error }
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.setTimer(() => reject(late()), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    timer.cancel();
  }
}
