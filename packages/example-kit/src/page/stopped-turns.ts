/**
 * Where a stopped turn is marked. A turn is known by its request, the one message whose id is the same everywhere: the answer may carry
 * an id of this tab's own making until the stored list arrives, and may then turn out to be several messages.
 */
import type { UIMessage } from "ai";

/** Stands for the request of a turn that nobody asked for in words. */
const NO_REQUEST = "";

/** The request of the newest turn. */
export function newestRequest(messages: readonly UIMessage[]): string {
  return messages.findLast(({ role }) => role === "user")?.id ?? NO_REQUEST;
}

/** The last message of each stopped turn: the end of its answer, or the request when nothing had been said. */
export function endsOfTurns(
  messages: readonly UIMessage[],
  stopped: ReadonlySet<string>
): ReadonlySet<string> {
  const ends = new Set<string>();
  let request = NO_REQUEST;
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") request = message.id;
    const next = messages[index + 1];
    if (stopped.has(request) && (next === undefined || next.role === "user")) ends.add(message.id);
  }
  return ends;
}
