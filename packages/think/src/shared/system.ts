/** The real clock and real ids, for the host and for objects that stand alone. */
import type { Clock, Ids } from "./clock";

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(callback, ms) {
    const timer = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(timer) };
  }
};

export const systemIds: Ids = { next: () => crypto.randomUUID() };
