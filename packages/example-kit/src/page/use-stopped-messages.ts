/** Remembers at which messages the person stopped a turn in this tab, so that a short answer is not taken for a whole one. */
import type { UIMessage } from "ai";
import { useState } from "react";

export interface StoppedMessages {
  /** The last message of each stopped turn: the answer, or the request when nothing had been said. */
  readonly stopped: ReadonlySet<string>;
  /** Call it when the person stops the running turn. */
  readonly markStopping: () => void;
}

export function useStoppedMessages(messages: readonly UIMessage[], busy: boolean): StoppedMessages {
  const [stopping, setStopping] = useState(false);
  const [stopped, setStopped] = useState<ReadonlySet<string>>(new Set<string>());
  // During the render, as React asks for state that follows a property: which message was last is known once the turn is over.
  if (stopping && !busy) {
    setStopping(false);
    const last = messages.at(-1);
    if (last !== undefined) setStopped(new Set(stopped).add(last.id));
  }
  return { stopped, markStopping: () => setStopping(true) };
}
