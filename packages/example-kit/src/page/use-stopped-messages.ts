/** Remembers which turns the person stopped in this tab, so that a short answer is not taken for a whole one. */
import type { UIMessage } from "ai";
import { useState } from "react";
import { endsOfTurns, newestRequest } from "./stopped-turns";

export interface StoppedMessages {
  /** The last message of each stopped turn: the answer, or the request when nothing had been said. */
  readonly stopped: ReadonlySet<string>;
  /** Call it when the person stops the running turn. */
  readonly markStopping: () => void;
}

export function useStoppedMessages(messages: readonly UIMessage[], busy: boolean): StoppedMessages {
  const [stopping, setStopping] = useState(false);
  const [requests, setRequests] = useState<ReadonlySet<string>>(new Set<string>());
  const request = newestRequest(messages);
  // During the render, as React asks for state that follows a property.
  if (stopping && !busy) {
    setStopping(false);
    setRequests(new Set(requests).add(request));
  } else if (busy && !stopping && requests.has(request)) {
    // The request is answered anew.
    setRequests(new Set([...requests].filter((id) => id !== request)));
  }
  return { stopped: endsOfTurns(messages, requests), markStopping: () => setStopping(true) };
}
